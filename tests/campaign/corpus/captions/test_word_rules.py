"""Words one by one: where sentences begin, what more than one is called, and which names a cast may not have."""

import pytest

from backend.campaign.corpus.captions.rules.names import clashes_with, contradictions
from backend.campaign.corpus.captions.rules.spelling import (
    all_people,
    article_of,
    group_phrase,
    marks,
    opens_sentence,
    plural,
    split,
    tidy,
    word_pattern,
)


@pytest.mark.parametrize(
    ("before", "opens"),
    [
        *(("", True), ("(", True), ("He sees ", False), ("It rains. ", True), ("It rains.", False)),
        *(('He says "', True), ("Stop!” ", True), ("a\n- ", True), ("Dr. ", False), ("He sees Dr. ", False)),
        *(("by J. ", False), ("on St. ", False), ("in the st. ", True)),
    ],
)
def test_where_a_sentence_begins(before: str, opens: bool) -> None:
    assert opens_sentence(f"{before}Ann. Ann", len(before)) is opens


@pytest.mark.parametrize(
    ("phrase", "parts"),
    [
        ("a man", ("a", "man")),
        ("An  old man", ("an", "old man")),
        ("THE caretaker", ("the", "caretaker")),
        ("another man", ("", "another man")),
        ("the ", ("", "the ")),
        ("a", ("", "a")),
        ("someone", ("", "someone")),
    ],
)
def test_an_article_is_parted_from_its_noun(phrase: str, parts: tuple[str, str]) -> None:
    assert split(phrase) == parts


def test_words_have_marks_hyphens_and_apostrophes_inside() -> None:
    assert word_pattern().findall("El-Masri’s सीमा 3D x2 -a- o'") == ["El-Masri’s", "सीमा", "D", "x2", "a", "o"]
    assert [sign in marks() for sign in "\u0300a"] == [True, False]
    assert tidy(" Zoe\u0308 \n Lee ") == "Zo\u00eb Lee"
    for article, nouns in {
        "a": ("European", "once-famous man", "doctor", "uniformed man", "one-legged man", "European woman"),
        "an": ("Old man", "heiress", "actor", "unidentified man", "honest man", "umpire"),
    }.items():
        assert {article_of(noun) for noun in nouns} == {article}


@pytest.mark.parametrize(
    ("noun", "more"),
    [
        *(("policeman", "policemen"), ("old person", "old people"), ("man doctor", "man doctors"), ("women", "women")),
        *(("townspeople", "townspeople"), ("boy", "boys"), ("bully", "bullies"), ("y", "ys")),
        *(("boss", "bosses"), ("fox", "foxes"), ("waltz", "waltzes"), ("coach", "coaches"), ("fish", "fishes")),
        *(("child", "children"), ("friend", "friends"), ("woman", "women")),
    ],
)  # fmt: skip
def test_more_than_one(noun: str, more: str) -> None:
    assert plural(noun) == more


@pytest.mark.parametrize(
    ("nouns", "kind", "alike"),
    [
        (["woman", "woman"], "two women", "two people"),
        (["man"] * 3, "three men", "three people"),
        (["old man"] * 4, "four old men", "four people"),
        (["man"] * 5, "a group of men", "a group of people"),
        (["man", "boy"], "two people", "two people"),
        (["monkey", "monkey"], "two monkeys", "two monkeys"),
        (["monkey"] * 5, "a group of monkeys", "a group of monkeys"),
    ],
)
def test_several_as_one(nouns: list[str], kind: str, alike: str) -> None:
    assert (group_phrase(nouns, alike=False), group_phrase(nouns, alike=True)) == (kind, alike)


def test_who_is_a_person() -> None:
    assert all_people(["man", "very old woman", "police officer"])
    assert not all_people(["man", "monkey"])
    assert not all_people(["man shadow"])


@pytest.mark.parametrize(
    ("phrase", "said", "not_said"),
    [
        # `an old man`, `the third old man`, `two old men`, `a group of people`, and what may stand before a name.
        (
            "an old man",
            [
                *("man", "old", "The", "other old man", "third", "Two", "group of"),
                *("people", "people Lee", "men Lee", "man Lee", "old men"),
            ],
            ["Man", "Old", "young", "old Lee", "Lee man", "Lee people", "two men Lee", "someone"],
        ),
        ("someone", ["someone", "Someone", "someone Lee"], ["The", "two", "people", "someones", "Lee someone"]),
        ("some friends", ["some", "Some", "friends", "Some friends", "friends Lee"], ["Friends", "some Lee", "a"]),
    ],
)  # fmt: skip
def test_words_that_a_phrase_puts_are_no_name(phrase: str, said: list[str], not_said: list[str]) -> None:
    assert [name for name in [*said, *not_said] if clashes_with(name, phrase)] == said


@pytest.mark.parametrize(
    ("cast", "wrong"),
    [
        ({"Ann": "a woman", "Lee": "Lee", "3D": "someone"}, []),
        ({"3": "a man", "": "a man"}, [
("3", "the name '3' has no letter: correct or remove it"),
 ("", "the name '' has no letter: correct or remove it"),
]),
        ({"Ann": "", "3": ""}, [
            ("3", "the name '3' has no letter: correct or remove it"),
            ("Ann", "the name 'Ann' has no replacement: write one, such as \"a woman\""),
            ("3", "the name '3' has no replacement: write one, such as \"a woman\""),
        ]),
        # A name that stays itself changes nothing, and one that another phrase puts changes that.
        ({"man": "man", "Bo": "a man", "Al": "a man"}, [
            ("Bo", "'Bo' becomes 'a man', where the name 'man' would be replaced again: choose other words"),
            ("Al", "'Al' becomes 'a man', where the name 'man' would be replaced again: choose other words"),
        ]),
        ({" ": "a man", "Bo": "a man"}, [(" ", "the name ' ' has no letter: correct or remove it")]),
    ],
)  # fmt: skip
def test_what_keeps_a_cast_from_meaning_one_thing(cast: dict[str, str], wrong: list[tuple[str, str]]) -> None:
    assert contradictions(cast) == wrong
