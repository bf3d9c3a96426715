"""What the grades of a campaign come to, counted by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.monitoring.quality.rules.figures import STATISTICS, repeats, summary
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Rounding
from graded import graded

TABLE = [
    *([1, 1], [2, 3], [0, 1], [2, 3]),  # settled by two: 1, 3, 1, 3
    [0, 4, 2, 2],  # by four: 2
    *([0, 4, 1, 3], [0, 3, 1, 4]),  # discarded; a lead made it 0
    *([1], [4], [0], [0, 4], [1, 4], [0, 4, 2]),  # three wait for a second grade, two for a third, one for a fourth
]
FIGURES = {name: Figure(n / 10, n, "grades") for n, name in enumerate(STATISTICS, 1)}


@pytest.mark.parametrize(("may_go_on", "discarded"), [(True, 1), (False, 7)])
def test_every_pair_is_counted_once(may_go_on: bool, discarded: int) -> None:
    grades = graded(TABLE, decided={6: 0}, may_go_on=may_go_on)
    found = summary(grades, grades.patterns(), FIGURES)
    expected = {
        **{"rule": "tvr-ranking-1", "rows": 30, "pairs": 13, "annotators": 4},
        **{"consensus": 5, "discarded": discarded, "adjudicated": 1},
        "undecided": {"one": 3, "two": 2, "three": 1},
        "relevance": {"0": 1, "1": 2, "2": 1, "3": 2, "4": 0},
        **{"settled_by_two": 4, "settled_by_four": 1, "settled_by_six": 0},
        **{"alpha_ordinal": 0.1, "alpha_nominal": 0.2, "alpha_interval": 0.3},
        **{"alpha_ordinal_first_per_annotator": 0.4, "exact_agreement": 0.5, "within_one_agreement": 0.6},
        **{"kappa_plain": 0.7, "kappa_quadratic": 0.8, "kappa_couples": 7},
        **{"pairs_graded_twice_by_one": 0, "duplicate_rows": 0, "undefined": {}},
    }
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True), "counts are whole numbers"


def test_pairs_that_a_lead_re_opened_are_named_where_there_are_any() -> None:
    table = [[0, 4, 1, 3], [0, 4, 1, 3, 2], [0, 4, 1, 3, 3, 4], [2, 2], [0, 4, 1, 3, 1]]
    grades = replace(graded(table), re_opened=np.array([True, True, True, False, True]))
    found = summary(grades, grades.patterns(), FIGURES)
    assert found["undecided"] == {"one": 0, "two": 0, "three": 0, "four": 1, "five": 2}
    assert (found["settled_by_two"], found["settled_by_six"], found["consensus"]) == (1, 1, 2)


def test_what_is_undefined_says_why() -> None:
    grades = graded(TABLE)
    told = {**FIGURES, "alpha_nominal": Figure(None, 0, "grades", "no pair has two grades")}
    found = summary(grades, grades.patterns(), told)
    assert found["alpha_nominal"] is None
    assert found["undefined"] == {"alpha_nominal": "no pair has two grades"}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=25))
def test_repeats_are_pairs_and_grades_of_one_person(rows: list[tuple[int, int, int]]) -> None:
    pair, annotator, grade = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    grades = GradedPairs(
        ("Anna", "Boris", "Carla"), pair, annotator, grade, np.full(4, -1), 2, 1, Rounding.HALF_UP, True
    )
    twice = {p for n, (p, who, _) in enumerate(rows) if any((p, who) == row[:2] for row in rows[:n])}
    assert repeats(grades) == (len(twice), len(rows) - len(set(rows)))
