"""Rewriting is idempotent, leaves no name of the cast, and touches nothing but names."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.corpus.captions.rules import NOTHING_KNOWN, Known, names_in, rewrite, unknown_names
from backend.campaign.setup.project.model import People
from backend.core.lexicon import english

NAMES = [
    "Ann",
    "Ann Lee",
    "Lee",
    "Ross",
    "O'Neil",
    "Dr. Who",
    "Mary-Ann",
    "Zoë",
    "Анна",
    "सीमा",
    "瑞秋",
    "joey",
    "Captain",
]
PHRASES = ["a woman", "a man", "an old man", "the caretaker", "someone", "two girls", "a actor"]
casts = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(PHRASES))
OTHERS = [
    *["and", "both", "his wife", "friends", "two", "he", "Doctors", "while", "&"],
    *[
        "Annabel",
        "ann",
        "ANN",
        "LEE",
        "lee",
        "ross",
        "O’NEIL",
        "Dr.",
        "dr.",
        "DrLee",
        "zoe",
        "\u200b",
        "the",
        "a",
        "an upset",
        "A",
        "Mr.",
        "Dr",
        "sits",
        "a woman",
        "瑞",
        "\u0301",
    ],
    *[". ", "! ", '"', "'", "-", ", ", "\n", "’", " ", "  "],
]
pieces = st.sampled_from([*NAMES, *(name + "'s" for name in NAMES), *OTHERS])
texts = st.one_of(
    st.lists(pieces).map(" ".join),
    st.lists(pieces).map("".join),
    st.text(),
)
ways = st.sampled_from(["joined", "counted", "apart"])
lexicons = st.sampled_from([NOTHING_KNOWN, Known({}, frozenset(), frozenset(), english)])


@given(texts, casts, ways, lexicons)
def test_rewriting_twice_is_rewriting_once(text: str, cast: dict[str, str], people: People, known: Known) -> None:
    once = rewrite(text, cast, people, known)
    assert rewrite(once, cast, people, known) == once
    assert names_in(once, cast, (), known) == ()


@given(texts, casts, ways, lexicons)
def test_a_text_without_names_of_the_cast_is_left_alone(
    text: str, cast: dict[str, str], people: People, known: Known
) -> None:
    if not names_in(text, cast, (), known):
        assert rewrite(text, cast, people, known) == unicodedata.normalize("NFC", text)


@given(st.lists(st.sampled_from(["Ann", "Lee", "Ross", "Zoë"]), min_size=1, max_size=8))
def test_as_many_people_remain_as_there_were(names: list[str]) -> None:
    """Commas keep the names apart; a first mention is `a` or `another`, a repeated one `the`."""
    words = rewrite(", ".join(names), dict.fromkeys(names, "a man"), "apart").split(", ")
    assert len(words) == len(names)
    first = [word for word in words if not word.lower().startswith("the ")]
    assert len(first) == len(set(names))
    assert len({word.lower() for word in first}) == len(first)


@given(st.lists(st.sampled_from(["Ann", "Lee", "Ross", "Zoë", "Mary-Ann"]), min_size=2, max_size=5, unique=True))
def test_people_named_together_are_as_many_as_there_were(names: list[str]) -> None:
    text = f"{', '.join(names[:-1])} and {names[-1]} wave."
    number = {2: "Two", 3: "Three", 4: "Four", 5: "A group of"}[len(names)]
    assert rewrite(text, dict.fromkeys(names, "a man")) == f"{number} people wave."
    assert rewrite(text, dict.fromkeys(names, "a man"), "joined") == f"{number} men wave."


@given(st.lists(texts, max_size=5), casts)
def test_unknown_names_are_found_again_in_the_texts(many: list[str], cast: dict[str, str]) -> None:
    unknown = unknown_names(many, cast)
    found = {name for text in many for name in names_in(text, cast, unknown)}
    assert unknown.keys() <= found | set(cast)
