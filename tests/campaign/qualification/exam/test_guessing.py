"""What constants and chance score in an exam, against every possible way of answering it."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.qualification.exam.rules.marking import guesses, require_telling
from backend.core.errors import ProjectError

SEEN = [0] * 19 + [1, 2, 2, 3, 3, 4, 4]
"""The exam that somebody passed by pressing 0 every time: 19 of 26 keys were 0."""


@given(
    st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n - 1), min_size=1, max_size=5))),
    st.integers(0, 2),
    st.floats(0, 100),
)
def test_every_way_of_answering_counted_out(scale_key: tuple[int, list[int]], tolerance: int, most: float) -> None:
    grades, key = scale_key
    found = guesses(key, range(grades), most, tolerance)
    missed_by = {
        answers: sum(abs(answer - right) > tolerance for answer, right in zip(answers, key, strict=True))
        for answers in product(range(grades), repeat=len(key))
    }
    passing = {answers for answers, missed in missed_by.items() if 100 * missed <= most * len(key)}
    assert found.chance_passes == pytest.approx(float(Fraction(len(passing), len(missed_by))), abs=1e-12)
    assert found.chance_missed == pytest.approx(sum(missed_by.values()) / len(missed_by) / len(key))
    for one in found.constants:
        throughout = (one.grade,) * len(key)
        assert one.missed == missed_by[throughout]
        assert one.passed == (throughout in passing)
        assert one.near or not one.passed


def test_keys_of_one_kind_follow_the_binomial_distribution() -> None:
    from scipy.stats import binom

    found = guesses([2] * 100, range(5), 20, 0)
    assert found.chance_passes == pytest.approx(binom.cdf(20, 100, 0.8), rel=1e-9)


def test_an_exam_that_pressing_0_passes_is_called_weak() -> None:
    found = guesses(SEEN, range(5), 30, 1)
    assert found.constants[0].missed == 6
    assert found.constants[0].passed
    assert "grade 0 throughout misses 6 of 26 and would pass" in found.weak
    assert "grade 1 throughout misses 4 of 26 and would pass" in found.weak
    stricter = guesses(SEEN, range(5), 15, 1)
    assert not stricter.constants[0].passed
    assert "grade 0 throughout misses 6 of 26, within 10 % of the limit of 15 % missed" in stricter.weak


def test_an_even_key_of_a_hundred_is_not_weak() -> None:
    even = guesses([0, 1, 2, 3, 4] * 20, range(5), 20, 1)
    assert [one.missed for one in even.constants] == [60, 40, 40, 40, 60]
    assert even.weak == ()


def test_few_items_are_weak_because_chance_passes_them() -> None:
    # No miss: .4^2 .6^3 = .03456; one: 2 * .6 * .4 * .6^3 + 3 * .4 * .6^2 * .4^2 = .1728.
    found = guesses([0, 1, 2, 3, 4], range(5), 20, 1)
    assert found.chance_passes == pytest.approx(0.20736)
    assert found.weak == ("random grades would pass 20.7 % of the time, more than 5 %",)


def test_where_the_middle_grade_agrees_with_every_key_the_exam_is_always_weak() -> None:
    assert "grade 1 throughout misses 0 of 60 and would pass" in guesses([0, 1, 2] * 20, range(3), 20, 1).weak
    assert guesses([0, 1] * 30, range(2), 20, 0).weak == ()


def test_an_exam_without_items_has_no_guess() -> None:
    with pytest.raises(ValueError, match="without items"):
        guesses([], range(5), 20, 1)


def test_a_weak_exam_needs_a_reason_and_another_one_none() -> None:
    weak = guesses(SEEN, range(5), 30, 1)
    with pytest.raises(
        ProjectError, match=r"grade 0 throughout misses 6 of 26 and would pass; grade 1 .* give a reason"
    ):
        require_telling(weak, "  ")
    require_telling(weak, "a trial with two people")
    require_telling(guesses([0, 1, 2, 3, 4] * 20, range(5), 20, 1), "")


def test_what_is_near_passing_is_told_up_to_the_margin_itself() -> None:
    """Of four grades, each the key of 25 items, every constant and chance itself miss 75 %: 10 more than 65."""
    near = "within 10 % of the limit of 65 % missed"
    found = guesses([0, 1, 2, 3] * 25, range(4), 65, 0)
    assert (found.items, found.most_missed, found.chance_missed) == (100, 65, 0.75)
    assert found.chance_passes < 0.05
    assert found.weak == (
        *(f"grade {grade} throughout misses 75 of 100, {near}" for grade in range(4)),
        f"random grades miss 75 % on average, {near}",
    )
    assert guesses([0, 1, 2, 3] * 25, range(4), 64, 0).weak == ()
