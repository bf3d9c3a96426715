"""Mean, median and Dawid-Skene against counting by hand, crowd-kit's figures, loops, and what was planted."""

import warnings
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.rules import aggregators
from backend.campaign.nouns import Rounding
from graded import Table, graded

SMALL: Table = [
    *([0, 0, 1], [1, 1, 2], [2, 2, 2], [2, 1, None], [0, None, 0]),
    *([1, 1, 1], [0, 1, None], [2, 2, 1], [None, 0, 1], [2, 0, 2]),
]
# crowdkit.aggregation.DawidSkene(n_iter=7, tol=-1e9) of crowd-kit 1.4.2 on the same grades.
CROWD_KIT = [
    *([0.999800744, 0.000199256, 0.0], [0.0, 0.999997397, 2.603e-06], [0.0, 7.643e-06, 0.999992357]),
    *([0.000277032, 0.528744909, 0.470978059], [1.0, 0.0, 0.0], [0.0, 0.999998406, 1.594e-06]),
    *([0.878497097, 0.121502903, 0.0], [0.0, 1.2485e-05, 0.999987515], [0.768121558, 0.002558467, 0.229319975]),
    [0.0, 0.001344938, 0.998655062],
]


def planted(pairs: int = 400) -> tuple[np.ndarray, Table]:
    """Three people who are mostly right, and one who turns the scale round."""
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 3, pairs)
    near = np.where(rng.random((3, pairs)) < 0.75, truth, rng.integers(0, 3, (3, pairs)))
    turned = 2 - truth
    return truth, np.vstack([near, turned]).T.tolist()


def test_posteriors_are_those_of_crowd_kit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregators, "ITERATIONS", 7)
    monkeypatch.setattr(aggregators, "TOLERANCE", -1.0)
    found = aggregators.dawid_skene(graded(SMALL, 2))
    assert found.posterior == pytest.approx(np.array(CROWD_KIT), abs=2e-9)


def test_one_turn_equals_bayes_with_the_shares_of_the_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregators, "ITERATIONS", 1)
    found = aggregators.dawid_skene(graded(SMALL, 2))
    shares = [[row.count(right) / sum(grade is not None for grade in row) for right in range(3)] for row in SMALL]
    tables = np.full((3, 3, 3), 1e-10)
    for who in range(3):
        for right in range(3):
            for grade in range(3):
                rows = [share[right] for share, row in zip(shares, SMALL, strict=True) if row[who] == grade]
                tables[who, right, grade] = max(sum(rows), 1e-10)
            tables[who, right] /= tables[who, right].sum()
    prior = np.mean(shares, axis=0)
    likelihoods = []
    for row, posterior in zip(SMALL, found.posterior, strict=True):
        joint = [
            prior[right] * np.prod([tables[who, right, grade] for who, grade in enumerate(row) if grade is not None])
            for right in range(3)
        ]
        likelihoods.append(np.log(sum(joint)))
        assert posterior == pytest.approx(np.array(joint) / sum(joint), abs=1e-12)
    assert found.likelihoods == pytest.approx((np.mean(likelihoods),), abs=1e-12)


def test_every_turn_makes_the_grades_likelier() -> None:
    found = aggregators.dawid_skene(graded(planted()[1], 2))
    assert len(found.likelihoods) > 3
    assert np.diff(found.likelihoods).min() > -1e-9


def test_it_ends_where_nothing_more_is_gained() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody gives 1, and nothing is said of it
        found = aggregators.dawid_skene(graded([[0, 0], [2, 2]], 2))
    assert len(found.likelihoods) == 2
    assert found.posterior == pytest.approx(np.array([[1, 0, 0], [0, 0, 1]]), abs=1e-8)


def test_who_turns_the_scale_round_is_understood() -> None:
    truth, table = planted()
    found = aggregators.dawid_skene(graded(table, 2))
    assert found.tables[3].argmax(axis=1).tolist() == [2, 1, 0]
    right = (aggregators.posterior_medians(found.posterior) == truth).mean()
    plain = (aggregators.means(graded(table, 2).counts(), Rounding.HALF_UP) == truth).mean()
    assert right > 0.97 > plain


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.sampled_from(list(Rounding)))
def test_mean_and_median_round_as_the_campaign_does(grades: list[int], rounding: Rounding) -> None:
    counts = np.bincount(grades, minlength=5)[None]
    for made, exact in (
        (aggregators.means(counts, rounding), sum(grades) / len(grades)),
        (aggregators.medians(counts, rounding), median(grades)),
    ):
        lower = int(exact)
        half = rounding is Rounding.HALF_UP
        assert made.tolist() == [lower + (exact - lower > 0.5 or (exact - lower == 0.5 and half))]


def test_the_comparison_counts_pairs_once_and_names_them() -> None:
    table: Table = [
        [0, 1, None, None],
        [0, 2, 2, 2],
        [0, 4, 1, 1],
        [0, 4, 1, 3],
        [1, None, None, None],
        [4, 4, None, None],
    ]
    found = aggregators.report(graded(table, 4, decided={5: 0}), list("abcdef"), [f"query {n}" for n in range(6)])
    mean, middle, _ = found.counts
    # By the rule: a (0, 1 -> 1), b (2, 2 -> 2), c (1, 1 -> 1). Means: 0.5 -> 1, 1.5 -> 2, 1.5 -> 2. A lead decided f.
    assert (mean.by_rule, mean.differs, mean.differs_by_more) == (3, 1, 0)
    assert (mean.by_lead, mean.differs_from_lead, mean.gained) == (1, 1, 1)
    assert (middle.differs, middle.differs_from_lead) == (0, 1)
    by_name = {one.pair: one for one in found.pairs}
    assert {"c", "f"} <= by_name.keys()
    assert by_name.keys().isdisjoint({"d", "e"}), "what has no relevance differs from none"
    assert by_name["c"].grades == (0, 1, 1, 4)
    assert (by_name["c"].final, by_name["c"].mean, by_name["c"].median) == (1, 2, 1)
    assert (by_name["f"].by_lead, by_name["f"].final, by_name["f"].mean) == (True, 0, 4)
    assert by_name["c"].query == "query 2"


def test_differences_of_more_than_one_grade_are_told_apart() -> None:
    """Four grades of which three are 0, on a scale to 8: by the rule 0, by their mean 1, 2 and 2."""
    found = aggregators.report(graded([[0, 0, 0, 4], [0, 0, 0, 8], [8, 0, 0, 0], [3, 3, None, None]], 8), list("abcd"))
    assert [one.name for one in found.counts] == ["mean", "median", "dawid_skene"]
    assert (found.counts[0].by_rule, found.counts[0].differs, found.counts[0].differs_by_more) == (4, 3, 2)
    assert (found.counts[1].differs, found.counts[1].differs_by_more) == (0, 0)
    assert {one.query for one in found.pairs} == {""}, "no queries are known"


def test_nothing_to_compare_is_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = aggregators.report(graded([], 4), [])
    assert [one.differs for one in found.counts] == [0, 0, 0]
    assert found.pairs == ()


def test_it_tells_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    aggregators.report(graded(SMALL, 2), list("abcdefghij"), progress=lambda done, total: told.append((done, total)))
    assert told[0] == (1, aggregators.ITERATIONS)
    assert told[-1] == (aggregators.ITERATIONS, aggregators.ITERATIONS)
