"""What a guideline has to be: each sentence by hand, and none where it is so."""

from typing import Any

import pytest

from backend.campaign.nouns import GradeMeaning
from backend.campaign.setup.project.model import Question, grading_problems

PLAIN: dict[str, Any] = {
    **{"labels": ["No", " Perhaps ", "Yes"], "tolerance": 1, "example_query": "A dog.", "example": "a dog"},
    **{"questions": [Question("Is it?", "Look.")], "reminders": ["Listen."]},
}


def told(**changes: Any) -> list[str]:
    said = {**PLAIN, **changes}
    labels, example = said.pop("labels"), said.pop("example")
    last = len(labels) - 1
    return list(
        grading_problems(
            [GradeMeaning(n, label, "", "", example if n == last else "") for n, label in enumerate(labels)], **said
        )
    )


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"tolerance": 0}, []),
        ({"labels": list("abcde"), "tolerance": 3}, []),
        ({"labels": list("ab"), "tolerance": 0}, []),
        ({"labels": []}, ["has 0 grades: a scale has 2 to 5"]),
        ({"labels": ["a"]}, ["has 1 grade: a scale has 2 to 5"]),
        ({"labels": list("abcdef"), "tolerance": -1}, [
            "has 6 grades: a scale has 2 to 5", "tolerance is -1: write 0 or more",
        ]),
        ({"tolerance": 2}, ["tolerance is 2, so any two of the 3 grades would agree: write 0 to 1"]),
        ({"labels": list("ab")}, ["tolerance is 1, so any two of the 2 grades would agree: write 0"]),
        ({"tolerance": -1}, ["tolerance is -1: write 0 or more"]),
        ({"labels": ["a", " ", ""]}, ["grade 1 has no label", "grade 2 has no label"]),
        ({"labels": ["a", f" {'n' * 24} ", "c"]}, []),
        (
            {"labels": ["a", f" {'n' * 25} ", "c"]},
            ["the label of grade 1 has 25 characters: use at most 24, which fit on a button"],
        ),
        ({"labels": ["A", "b", " a "]}, ["2 grades have the label 'a'"]),
        ({"labels": ["A", "B", "a", "b", "a"]}, ["3 grades have the label 'a'", "2 grades have the label 'b'"]),
        ({"example_query": " "}, ["has examples but no example_query: add the query that they belong to"]),
        ({"example_query": " ", "example": " "}, []),
        ({"questions": [Question(*one) for one in (("Is it?", " "), ("Is it?", "Look."), ("", "Look."), ("", ""))]}, [
            "question 1 has no text", "question 3 has no title", "question 4 has no title",
        ]),
        ({"reminders": ["Listen.", " ", ""]}, ["reminder 2 is empty", "reminder 3 is empty"]),
        ({"reminders": [], "questions": []}, []),
    ],
)  # fmt: skip
def test_everything_that_is_wrong_is_told(changes: dict[str, Any], faults: list[str]) -> None:
    assert told(**changes) == faults
