"""What single annotators' grades look like, against counting pair by pair."""

from collections import defaultdict
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.rules import people
from backend.scoring.statistics.agreement import Agreement

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60)


def columns(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pair, annotator, grade = np.array(rows).T
    return pair, annotator, grade


@given(ROWS)
def test_bias_is_the_mean_distance_from_what_others_gave(rows: list[tuple[int, int, int]]) -> None:
    apart = defaultdict(list)
    for pair, who, grade in rows:
        others = [g for p, w, g in rows if p == pair and w != who]
        if others:
            apart[who].append(grade - fmean(others))
    pair_, annotator, grade_ = columns(rows)
    found = people.biases(people.leanings(pair_, annotator, grade_), annotator, 4)
    for who in range(4):
        if who in apart:
            assert found[who].value == pytest.approx(fmean(apart[who]), abs=1e-12)
            assert found[who].n == len(apart[who])
        else:
            assert found[who] == Agreement(None, 0, "nobody else graded their pairs")


def test_rounding_and_the_own_grade_are_not_in_it() -> None:
    # Everybody gives 2 and 3 equally often, against each other: nobody leans. Against relevances, halves rounded up to
    # 3, both would look strict.
    pair = np.repeat(np.arange(10), 2)
    annotator = np.tile([0, 1], 10)
    grade = np.where((pair + annotator) % 2 == 0, 2, 3)
    assert [one.value for one in people.biases(people.leanings(pair, annotator, grade), annotator, 2)] == [0.0, 0.0]


@given(ROWS)
def test_histograms_hold_every_grade(rows: list[tuple[int, int, int]]) -> None:
    _, annotator, grade = columns(rows)
    found = people.histograms(annotator, grade, 4, 5)
    for who in range(4):
        assert found[who].tolist() == [sum(w == who and g == value for _, w, g in rows) for value in range(5)]


def test_the_most_used_grade_is_the_lowest_of_equals() -> None:
    assert people.most_used(np.array([3, 1, 3])) == (0, 3 / 7)
    assert people.most_used(np.zeros(5, dtype=np.int64)) is None


def test_without_a_grade_there_is_no_mean_of_others() -> None:
    nothing = np.array([], dtype=np.int64)
    assert people.others_mean(nothing, nothing, nothing).tolist() == []
