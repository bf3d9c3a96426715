"""Invariants of the consensus rule."""

from fractions import Fraction
from math import floor
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.judging.rules import decide
from backend.campaign.nouns import Verdict

GRADE = st.integers(0, 4)


@given(st.lists(GRADE, max_size=4), st.randoms(use_true_random=False))
def test_order_does_not_matter(grades: list[int], random: Random) -> None:
    shuffled = list(grades)
    random.shuffle(shuffled)
    assert decide(shuffled, 1) == decide(grades, 1)


@given(st.lists(GRADE, max_size=4))
def test_relevance_lies_between_the_grades_and_half_a_grade_from_the_mean(grades: list[int]) -> None:
    decision = decide(grades, 1)
    assert (decision.relevance is None) == (decision.verdict is not Verdict.CONSENSUS) == (decision.mean is None)
    if decision.relevance is not None and decision.mean is not None:
        assert min(grades) <= decision.relevance <= max(grades)
        assert decision.relevance == floor(Fraction(decision.mean) + Fraction(1, 2))


@given(st.lists(GRADE, min_size=2, max_size=6), st.integers(0, 2))
def test_the_middle_two_are_those_left_when_lowest_and_highest_are_taken_away_in_turn(
    grades: list[int], tolerance: int
) -> None:
    """One rule for two, four and six grades: here by taking away, in `decide` by place."""
    left = list(grades)
    while len(left) > 2:
        left.remove(min(left))
        left.remove(max(left))
    decision = decide(grades, tolerance, re_opened=True)
    if len(grades) in (2, 6):
        agree = max(left) - min(left) <= tolerance
        assert (decision.verdict is Verdict.CONSENSUS) == agree
        assert decision.relevance == (floor(Fraction(sum(left), 2) + Fraction(1, 2)) if agree else None)
    else:
        assert decision.verdict is Verdict.ESCALATED


@given(GRADE, GRADE)
def test_two_further_equal_grades_between_the_first_two_always_settle(first: int, second: int) -> None:
    middle = (first + second) // 2
    assert decide([first, second, middle, middle], 1).relevance == middle
