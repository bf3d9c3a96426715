"""What two versions of a guideline differ in, in the order of reading, and what somebody has to read: by hand."""

from dataclasses import replace

import pytest

from backend.campaign.nouns import GradeMeaning, Rounding, Scale
from backend.campaign.qualification.guideline.rules import Change, Reading, changes, to_read
from backend.campaign.setup.project.model import Grading, Question

MEANINGS = tuple(GradeMeaning(n, f"label {n}", f"meaning {n}", f"detail {n}", f"example {n}") for n in range(3))
OLD = Grading(
    Scale(MEANINGS), 1, Rounding.HALF_UP, "A dog.", (Question("Is it?", "Look."), Question("All?", "")), ("a", "b", "c")
)


def test_every_text_that_differs_is_told_in_the_order_of_reading() -> None:
    meanings = (replace(MEANINGS[0], detail="new"), MEANINGS[1], replace(MEANINGS[2], label="new", example="newer"))
    new = Grading(
        *(Scale(meanings), 0, Rounding.HALF_DOWN, "A cat."),
        *((Question("Is it?", "Look again."), Question("All?", "")), ("b", "c", "d", "e")),
    )
    assert changes(OLD, new) == [
        Change("Question 1", "Is it? Look.", "Is it? Look again."),
        Change("Grade 2, label", "label 2", "new"),
        Change("Grade 2, example", "example 2", "newer"),
        Change("Grade 0, detail", "detail 0", "new"),
        Change("Query of the examples", "A dog.", "A cat."),
        Change("Reminder 1", "a", ""),
        Change("Reminder 3", "", "d"),
        Change("Reminder 4", "", "e"),
        Change("Tolerance", "1", "0"),
        Change("Rounding", "half_up", "half_down"),
    ]
    assert changes(OLD, OLD) == []


def test_a_further_grade_has_all_its_texts_and_one_that_is_gone_had_them() -> None:
    more = replace(OLD, scale=Scale((*MEANINGS, GradeMeaning(3, "l", "m", "d", ""))))
    texts = [("label", "l"), ("meaning", "m"), ("detail", "d")]
    assert changes(OLD, more) == [Change(f"Grade 3, {part}", "", text) for part, text in texts]
    assert changes(more, OLD) == [Change(f"Grade 3, {part}", text, "") for part, text in texts]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("abc", "abc", []),
        ("abc", "xyc", [(1, "a", "x"), (2, "b", "y")]),
        ("abc", "xc", [(1, "a", "x"), (2, "b", "")]),
        ("abc", "xyzc", [(1, "a", "x"), (2, "b", "y"), (3, "", "z")]),
        ("abc", "ac", [(2, "b", "")]),
        ("ac", "abxc", [(2, "", "b"), (3, "", "x")]),
        ("abcd", "bcx", [(1, "a", ""), (3, "d", "x")]),
        ("abcd", "bd", [(1, "a", ""), (3, "c", "")]),
        ("", "ab", [(1, "", "a"), (2, "", "b")]),
        ("ab", "", [(1, "a", ""), (2, "b", "")]),
        ("axbc", "bcx", [(1, "a", ""), (2, "x", ""), (3, "", "x")]),
    ],
)
def test_of_texts_in_an_order_only_those_that_came_or_went_are_told(
    before: str, after: str, told: list[tuple[int, str, str]]
) -> None:
    found = changes(replace(OLD, reminders=tuple(before)), replace(OLD, reminders=tuple(after)))
    assert found == [Change(f"Reminder {number}", was, now) for number, was, now in told]


def test_a_long_list_is_compared_like_a_short_one() -> None:
    """What stands often in a long one is not taken for noise."""
    before = ("a", "b") * 150
    assert changes(replace(OLD, reminders=before), replace(OLD, reminders=("c", *before))) == [
        Change("Reminder 1", "", "c")
    ]


@pytest.mark.parametrize(
    ("seen", "present", "tutorial", "expected"),
    [
        (None, 3, True, Reading.FIRST),
        (None, 3, False, None),
        (1, 3, True, Reading.CHANGED),
        (2, 3, False, Reading.CHANGED),
        (3, 3, True, None),
        (4, 3, True, None),  # who saw what was taken back meanwhile
    ],
)
def test_what_somebody_has_to_read(seen: int | None, present: int, tutorial: bool, expected: Reading | None) -> None:
    assert to_read(seen, present, tutorial=tutorial) is expected
