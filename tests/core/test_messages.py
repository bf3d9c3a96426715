"""Sentences of the back end: their English is what `str.format` makes, and they are whole after any journey."""

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import InputError, Overtaken, Problem, ProjectError, StoreUnavailable
from backend.core.messages import Said, from_stored, joined, said, said_n, to_stored

WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
NAMES = ("name", "row", "what")
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS


def sentence_of(parts: list[str], values: list[object], several: str | None, number: int, context: str = "") -> Said:
    """A sentence whose text has words and places in turn."""
    given_values = dict(zip(NAMES, values, strict=False))
    places = [f"{{{name}}}" for name in given_values]
    escaped = [part.replace("{", "{{").replace("}", "}}") for part in parts]
    text = "".join(one for pair in zip(escaped, [*places, "", "", ""], strict=False) for one in pair)
    return Said(text, given_values, several, number, context)


SENTENCES: st.SearchStrategy[Said] = st.recursive(
    st.builds(sentence_of, st.lists(WORDS, min_size=1, max_size=4), st.lists(PLAIN, max_size=3), st.none(), st.just(1)),
    lambda inner: st.builds(
        sentence_of,
        st.lists(WORDS, min_size=1, max_size=4),
        st.lists(PLAIN | inner, min_size=1, max_size=3),
        st.none() | st.just("several"),
        st.integers(0, 3),
        st.sampled_from(["", "by"]),
    ),
    max_leaves=6,
)


def made_of(value: object) -> object:
    """All that a sentence is made of, with the kinds of its values; as a text alone, two may read the same."""
    if not isinstance(value, Said):
        return type(value), value
    return (
        value.text,
        {name: made_of(one) for name, one in value.values.items()},
        value.several,
        value.number,
        value.context,
        str(value),
    )


@given(SENTENCES)
def test_a_sentence_is_its_english(sentence: Said) -> None:
    chosen = sentence.text if sentence.several is None or sentence.number == 1 else sentence.several
    assert sentence == (chosen.format(**sentence.values) if sentence.values else chosen)


@given(SENTENCES)
@pytest.mark.parametrize(
    "travel", [lambda one: pickle.loads(pickle.dumps(one)), lambda one: from_stored(to_stored(one)), str]
)
def test_a_sentence_is_whole_after_its_journey(travel: Callable[[Said], str], sentence: Said) -> None:
    assert made_of(travel(sentence)) == made_of(sentence)


@given(WORDS | WORDS.map(lambda text: '{"said": ' + text))
def test_a_plain_text_comes_back_as_it_was_written(text: str) -> None:
    assert from_stored(to_stored(text)) == text


@pytest.mark.parametrize(
    "parts",
    [
        ["{a.__class__}", {"a": 1}, None, 1, ""],
        ["{a[0]}", {"a": "secret"}, None, 1, ""],
        ["{a!s:>99999999}", {"a": 1}, None, 1, ""],
        ["{a:>999999999}", {"a": 1}, None, 1, ""],
        ["{a:{b}}", {"a": 1, "b": ">99999999"}, None, 1, ""],
        ["{a}", {"b": 1}, None, 1, ""],
        ["{a:d}", {"a": "one"}, None, 1, ""],
        ["{", {"a": 1}, None, 1, ""],
        ["one", {"n": 2}, "{n.real}", 2, ""],
        ["{a}", ["a"], None, 1, ""],
        ["a"],
        7,
    ],
)
def test_a_database_of_somebody_else_makes_no_sentence_that_is_not_ours(parts: object) -> None:
    text = json.dumps({"said": parts})
    assert from_stored(text) == text
    assert not isinstance(from_stored(text), Said)


@given(WORDS.filter(lambda text: not text.startswith("{")))
def test_a_plain_text_is_kept_as_it_is(text: str) -> None:
    assert to_stored(text) == text == from_stored(text)
    assert not isinstance(from_stored(to_stored(text)), Said)


@given(WORDS, st.lists(WORDS | SENTENCES, min_size=1, max_size=4))
def test_joined_parts_read_as_python_joins_them(by: str, parts: list[str]) -> None:
    assert joined(by, parts) == by.join(parts)


def test_what_an_error_says_is_its_sentence() -> None:
    told = said("Nobody is called {name}.", name="Ana")
    for kind in (ProjectError, StoreUnavailable, Overtaken, ValueError):
        found = str(kind(told))
        assert isinstance(found, Said)
        assert (found, found.values) == ("Nobody is called Ana.", {"name": "Ana"})


def refuse() -> None:
    problems = [Problem("a.csv", row, said("end {end:g} is not after start", end=3.0)) for row in range(1, 13)]
    raise InputError(problems)


def test_a_refusal_from_another_process_says_row_by_row_what_it_said_there() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool, pytest.raises(InputError) as refused:
        pool.submit(refuse).result()
    lines = str(refused.value)
    assert lines.splitlines()[0] == "a.csv, row 1: end 3 is not after start"
    assert lines.splitlines()[9:] == ["a.csv, row 10: end 3 is not after start", "... and 2 more problems"]
    assert isinstance(lines, Said)
    line = lines.values["part_0"]
    assert isinstance(line, Said)
    assert line.text == "{file}, row {row}: {message}"
    message = line.values["message"]
    assert isinstance(message, Said)
    assert message.values == {"end": 3.0}


@pytest.mark.parametrize(("count", "words"), [(1, "1 pair"), (0, "0 pairs"), (1204, "1,204 pairs")])
def test_a_number_chooses_its_form(count: int, words: str) -> None:
    assert said_n("{n} pair", "{n:,} pairs", count) == words
