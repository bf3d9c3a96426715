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


@given(GRADE, GRADE)
def test_two_further_equal_grades_between_the_first_two_always_settle(first: int, second: int) -> None:
    middle = (first + second) // 2
    assert decide([first, second, middle, middle], 1).relevance == middle
