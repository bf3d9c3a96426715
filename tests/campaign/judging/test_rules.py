"""The consensus rule on cases worked by hand."""

import pytest

from backend.campaign.judging.rules import Decision, decide, version
from backend.campaign.nouns import Verdict


@pytest.mark.parametrize(
    ("grades", "verdict"),
    [
        ([], Verdict.OPEN),
        ([4], Verdict.OPEN),
        ([0, 2], Verdict.ESCALATED),
        ([0, 2, 1], Verdict.ESCALATED),  # the third of four
        ([2, 2, 2], Verdict.ESCALATED),  # even if the three agree: the rule waits for the fourth
        ([0, 0, 2, 2], Verdict.DISCARDED),
        ([0, 4, 1, 3], Verdict.DISCARDED),
    ],
)
def test_without_consensus_there_is_neither_relevance_nor_mean(grades: list[int], verdict: Verdict) -> None:
    assert decide(grades, 1) == Decision(verdict, relevance=None, mean=None)


@pytest.mark.parametrize(
    ("grades", "relevance", "mean"),
    [
        ([0, 1], 1, 0.5),  # half up; round() would give 0
        ([2, 3], 3, 2.5),  # half up; round() would give 2
        ([3, 4], 4, 3.5),
        ([4, 4], 4, 4.0),
        ([0, 4, 2, 2], 2, 2.0),
        ([0, 2, 2, 3], 2, 2.0),  # the mean of all four would be 1.75
        ([0, 4, 4, 3], 4, 3.5),
        ([0, 3, 0, 1], 1, 0.5),
        ([4, 4, 0, 3], 4, 3.5),  # the first two agree, and the four are trimmed all the same
    ],
)
def test_consensus(grades: list[int], relevance: int, mean: float) -> None:
    found = decide(grades, 1)
    assert (found.relevance, found.mean) == (relevance, mean)


@pytest.mark.parametrize(
    ("grades", "tolerance", "verdict"),
    [
        ([3, 3], 0, Verdict.CONSENSUS),
        ([2, 3], 0, Verdict.ESCALATED),
        ([0, 1, 2, 4], 0, Verdict.DISCARDED),  # 1 and 2 remain
        ([0, 2], 2, Verdict.CONSENSUS),
        ([0, 3], 2, Verdict.ESCALATED),
        ([0, 1, 3, 4], 2, Verdict.CONSENSUS),  # 1 and 3 remain
    ],
)
def test_grades_agree_within_the_tolerance(grades: list[int], tolerance: int, verdict: Verdict) -> None:
    assert decide(grades, tolerance).verdict is verdict


@pytest.mark.parametrize(
    ("grades", "verdict", "relevance"),
    [
        ([0, 4, 1, 3], Verdict.ESCALATED, None),  # the fifth and sixth are to come
        ([0, 4, 1, 3, 2], Verdict.ESCALATED, None),
        ([0, 4, 1, 3, 2, 2], Verdict.CONSENSUS, 2),  # 2 and 2 remain
        ([0, 4, 1, 3, 4, 4], Verdict.CONSENSUS, 4),  # 3 and 4 remain: 3.5
        ([0, 0, 4, 4, 0, 4], Verdict.DISCARDED, None),
        ([0, 0, 2, 2, 0, 2], Verdict.DISCARDED, None),
        ([0, 0, 2, 2, 1, 4], Verdict.CONSENSUS, 2),  # 1 and 2 remain: 1.5
        ([0, 4], Verdict.ESCALATED, None),
        ([2, 3], Verdict.CONSENSUS, 3),
    ],
)
def test_of_six_grades_the_middle_two_decide(grades: list[int], verdict: Verdict, relevance: int | None) -> None:
    found = decide(grades, 1, re_opened=True)
    assert (found.verdict, found.relevance) == (verdict, relevance)


def test_a_seventh_grade_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 6"):
        decide([1, 2, 3, 4, 4, 4, 4], 1, re_opened=True)


@pytest.mark.parametrize("grades", [[-1, 0], [1, 2, 3, 4, 4]])
def test_what_is_not_up_to_four_grades_is_refused(grades: list[int]) -> None:
    with pytest.raises(ValueError, match=r"count from 0|at most 4"):
        decide(grades, 1)


def test_the_rule_of_a_re_opened_pair_has_another_name():
    assert version(False) == "tvr-ranking-1"
    assert version(True) == "tvr-ranking-1+re-opened"
