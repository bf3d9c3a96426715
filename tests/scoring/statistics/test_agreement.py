"""Agreement statistics against slow definitions, other libraries and cases where they are undefined."""

import itertools
import warnings
from collections import Counter
from collections.abc import Callable
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.scoring.statistics.agreement import (
    MIN_SHARED,
    Agreement,
    Level,
    Weights,
    alphas,
    cohen_kappa,
    coincidences,
    count_grades,
    couples_of,
    first_per_annotator,
    kappas,
    krippendorff_alpha,
    mean_kappa,
    observed_agreement,
    shares_within,
)
from graded import TABLES, Table, graded

Column = NDArray[np.int64]


def mean_pairwise_kappa(
    unit: Column, annotator: Column, grade: Column, weights: Weights = "plain", min_shared: int = MIN_SHARED
) -> Agreement:
    return mean_kappa(couples_of(unit, annotator, grade), weights, min_shared)


def a_campaign(seed: int, pairs: int = 150, people: int = 5) -> tuple[Column, Column, Column]:
    """Two to four grades a pair, noisy around a true grade; now and then somebody grades twice."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(pairs), rng.integers(2, 5, size=pairs))
    annotator = rng.integers(0, people, size=unit.size)
    grade = np.clip(rng.integers(0, 5, size=pairs)[unit] + rng.integers(-1, 2, size=unit.size), 0, 4)
    shuffled = rng.permutation(unit.size)
    return unit[shuffled], annotator[shuffled], grade[shuffled]


def slow_mean_kappa(columns: tuple[Column, Column, Column], weights: Weights, min_shared: int) -> tuple[float, int]:
    """Couple by couple, through dictionaries and `cohen_kappa`."""
    graded: dict[int, dict[int, int]] = {}
    for unit, annotator, grade in zip(*(column.tolist() for column in columns), strict=True):
        graded.setdefault(annotator, {}).setdefault(unit, grade)
    values = []
    for one, other in itertools.combinations(graded.values(), 2):
        shared = sorted(one.keys() & other.keys())
        if len(shared) >= min_shared:
            first, second = (np.array([grades[unit] for unit in shared]) for grades in (one, other))
            value = cohen_kappa(first, second, weights).value
            assert value is not None
            values.append(value)
    return float(np.mean(values)), len(values)


@pytest.mark.parametrize("weights", ["plain", "linear", "quadratic"])
def test_mean_pairwise_kappa_equals_the_slow_way(weights: Weights) -> None:
    columns = a_campaign(seed=1)
    expected, couples = slow_mean_kappa(columns, weights, min_shared=30)
    found = mean_pairwise_kappa(*columns, weights=weights, min_shared=30)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.n == couples
    assert 0 < couples < 10, "the limit on shared pairs must bite for this test to mean anything"


@pytest.mark.parametrize("weights", ["plain", "linear", "quadratic"])
def test_kappa_equals_scikit_learn(weights: Weights) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    first = rng.integers(0, 5, size=60)
    second = np.clip(first + rng.integers(-1, 2, size=60), 0, 4)
    expected = metrics.cohen_kappa_score(first, second, weights=None if weights == "plain" else weights)
    assert cohen_kappa(first, second, weights).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("within", [0, 1])
def test_observed_agreement_equals_comparing_grade_by_grade(within: int) -> None:
    unit, _, grade = a_campaign(seed=3)
    share, base = 0.0, 0
    for number in range(150):
        grades = grade[unit == number].tolist()
        close = sum(abs(a - b) <= within for a, b in itertools.permutations(grades, 2))
        share += close / (len(grades) - 1)
        base += len(grades)
    found = observed_agreement(count_grades(unit, grade, 5), within)
    assert found.value == pytest.approx(share / base, abs=1e-12)
    assert found.n == base


def test_nominal_alpha_is_one_minus_observed_over_expected_disagreement() -> None:
    # Two annotators, ten units; the worked binary example of Krippendorff (2011), section A: alpha = 0.095.
    one, other = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    unit = np.repeat(np.arange(10), 2)
    grade = np.array([one, other]).T.ravel()
    found = krippendorff_alpha(count_grades(unit, grade, 5), "nominal")
    assert found.value == pytest.approx(0.095, abs=5e-4)
    assert found.n == 20


@given(TABLES)
@settings(max_examples=60)
def test_alpha_equals_the_package_of_its_name(table: Table) -> None:
    found = graded(table)
    counts = count_grades(found.pair, found.grade, 5)
    values = np.array([[np.nan if grade is None else grade for grade in row] for row in table], dtype=float).T
    levels: tuple[Level, ...] = ("nominal", "ordinal", "interval")
    for level in levels:
        ours = krippendorff_alpha(counts, level).value
        assert (ours is None) == (np.count_nonzero(counts[counts.sum(axis=1) > 1].sum(axis=0)) < 2)
        if ours is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = krippendorff.alpha(values, level_of_measurement=level, value_domain=[0, 1, 2, 3, 4])
        assert ours == pytest.approx(theirs, abs=1e-9)


@given(TABLES)
@settings(max_examples=60)
def test_kappas_equal_scikit_learn(table: Table) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = graded(table)
    couples = couples_of(found.pair, found.annotator, found.grade)
    named: dict[Weights, str | None] = {"plain": None, "quadratic": "quadratic"}
    for first, second in couples.couples.tolist():
        both = [(row[first], row[second]) for row in table if row[first] is not None and row[second] is not None]
        one, other = np.array(both).T
        for weights, theirs in named.items():
            ours = cohen_kappa(one, other, weights)
            if ours.value is not None:
                assert ours.value == pytest.approx(
                    metrics.cohen_kappa_score(one, other, weights=theirs, labels=range(5)), abs=1e-9
                )
            mean = mean_pairwise_kappa(*_only(found, first, second), weights=weights, min_shared=1)
            assert mean.value == pytest.approx(ours.value, abs=1e-12) if ours.value is not None else True


@given(TABLES)
def test_couples_hold_every_comparison_once(table: Table) -> None:
    found = graded(table)
    couples = couples_of(found.pair, found.annotator, found.grade)
    expected = {
        (first, second): [
            (unit, row[first], row[second]) for unit, row in enumerate(table) if None not in (row[first], row[second])
        ]
        for first, second in itertools.combinations(range(len(table[0])), 2)
    }
    expected = {names: shared for names, shared in expected.items() if shared}
    assert list(map(tuple, couples.couples.tolist())) == list(expected)
    told = {names: [] for names in expected}
    for unit, cell in zip(couples.unit.tolist(), couples.cell.tolist(), strict=True):
        couple, first, second = np.unravel_index(cell, couples.tables().shape)
        told[list(expected)[couple]].append((unit, int(first), int(second)))
    assert {names: sorted(shared) for names, shared in told.items()} == expected
    for one, shared in zip(couples.tables(), expected.values(), strict=True):
        assert {(int(a), int(b)): int(one[a, b]) for a, b in zip(*one.nonzero(), strict=True)} == Counter(
            (a, b) for _, a, b in shared
        )


def _only(found: GradedPairs, *people: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    kept = np.isin(found.annotator, people)
    return found.pair[kept], found.annotator[kept], found.grade[kept]


def test_units_with_one_grade_change_no_alpha() -> None:
    counts = np.array([[2, 0, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 3]])
    lonely = np.array([[0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    assert krippendorff_alpha(np.vstack([counts, lonely])) == krippendorff_alpha(counts)


def test_nothing_graded_is_counted_as_nothing() -> None:
    assert count_grades(NOTHING, NOTHING, 5).shape == (0, 5)
    assert first_per_annotator(NOTHING, NOTHING).tolist() == []


def test_first_grade_of_an_annotator_is_the_one_first_in_the_file() -> None:
    unit, annotator = np.array([3, 3, 0, 3, 0]), np.array([1, 0, 1, 1, 0])
    assert first_per_annotator(unit, annotator).tolist() == [0, 1, 2, 4]


NOTHING = np.array([], dtype=np.int64)


@pytest.mark.parametrize(
    ("find", "expected"),
    [
        (lambda: krippendorff_alpha(count_grades(NOTHING, NOTHING, 5)), Agreement(None, 0, "no pair has two grades")),
        (lambda: krippendorff_alpha(np.eye(5, dtype=np.int64)), Agreement(None, 0, "no pair has two grades")),
        (lambda: krippendorff_alpha(np.array([[0, 0, 2, 0, 0]])), Agreement(None, 2, "all grades are the same")),
        (lambda: observed_agreement(np.eye(5, dtype=np.int64)), Agreement(None, 0, "no pair has two grades")),
        (lambda: cohen_kappa(NOTHING, NOTHING), Agreement(None, 0, "no shared pairs")),
        (
            lambda: cohen_kappa(np.array([2, 2]), np.array([2, 2]), "quadratic"),
            Agreement(None, 2, "both gave every pair the same single grade"),
        ),
        (
            lambda: mean_pairwise_kappa(NOTHING, NOTHING, NOTHING),
            Agreement(None, 0, "no pair was graded by two annotators"),
        ),
        (
            # Twice the same person is nobody to agree with.
            lambda: mean_pairwise_kappa(np.array([0, 0]), np.array([1, 1]), np.array([2, 3])),
            Agreement(None, 0, "no pair was graded by two annotators"),
        ),
        (
            lambda: mean_pairwise_kappa(np.array([0, 0]), np.array([1, 0]), np.array([2, 2])),
            Agreement(None, 0, "no two annotators share 50 pairs"),
        ),
        (
            lambda: mean_pairwise_kappa(np.array([0, 0]), np.array([1, 0]), np.array([2, 2]), min_shared=1),
            Agreement(None, 0, "everybody gave every pair the same single grade"),
        ),
    ],
)
def test_undefined_says_why(find: Callable[[], Agreement], expected: Agreement) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find() == expected


COUNTS = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6).map(np.array)


@given(st.lists(COUNTS, min_size=1, max_size=4), st.sampled_from(["nominal", "ordinal", "interval"]), st.integers(0, 3))
def test_many_at_once_are_each_by_itself(many: list[NDArray[np.int64]], level: Level, within: int) -> None:
    """As resampling and groups of pairs ask; NaN where it is undefined."""
    nan = float("nan")
    stack = np.stack([coincidences(counts).sum(axis=0) for counts in many]).reshape(1, -1, 4, 4)
    alone = [krippendorff_alpha(counts, level).value for counts in many]
    shares = [observed_agreement(counts, within).value for counts in many]
    assert alphas(stack, level) == pytest.approx(
        np.array([[nan if one is None else one for one in alone]]), nan_ok=True
    )
    with np.errstate(all="raise"):
        found = shares_within(stack, within)
    assert found == pytest.approx(np.array([[nan if one is None else one for one in shares]]), nan_ok=True)
    tables = np.stack([np.resize(counts, (4, 4)) for counts in many]).reshape(1, -1, 4, 4)
    for weights in get_args(Weights):
        each = []
        for table in tables[0]:
            first, second = (np.repeat(places.ravel(), table.ravel()) for places in np.indices((4, 4)))
            each.append(cohen_kappa(first, second, weights).value)
        expected = np.array([[nan if one is None else one for one in each]])
        assert kappas(tables, weights) == pytest.approx(expected, nan_ok=True)


def test_what_is_asked_for_unless_told() -> None:
    """Ordinal alpha, equal grades, plain kappa: of grades of which no two of these say the same."""
    counts = np.array([[1, 1, 0, 0], [2, 0, 0, 0], [0, 0, 1, 2], [1, 0, 0, 1]])
    coincidence, table = coincidences(counts).sum(axis=0), np.diag([3, 2, 1, 2]) + counts
    ordinal, interval = (krippendorff_alpha(counts, level).value for level in ("ordinal", "interval"))
    assert krippendorff_alpha(counts).value == alphas(coincidence) == ordinal != interval
    assert observed_agreement(counts).value == shares_within(coincidence) == shares_within(coincidence, 0)
    assert shares_within(coincidence) < shares_within(coincidence, 1)
    assert kappas(table) == kappas(table, "plain") != kappas(table, "linear")


@given(COUNTS, st.data())
def test_units_that_were_graded_alike_may_be_told_as_often_as_there_are(
    counts: NDArray[np.int64], data: st.DataObject
) -> None:
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts))))
    each = np.repeat(counts, times, axis=0)
    for one, other in (
        (krippendorff_alpha(counts, times=times), krippendorff_alpha(each)),
        (observed_agreement(counts, 1, times), observed_agreement(each, 1)),
    ):
        assert one.value == (None if other.value is None else pytest.approx(other.value))
        assert (one.n, one.reason) == (other.n, other.reason)


def test_kappa_below_fifty_shared_pairs_is_not_shown() -> None:
    pairs = np.repeat(np.arange(50), 2)
    people = np.tile([0, 1], 50)
    grades = np.arange(100) % 5
    assert mean_pairwise_kappa(pairs, people, grades).n == 1
    assert mean_pairwise_kappa(pairs[:98], people[:98], grades[:98]).value is None


def test_one_pair_that_two_graded_otherwise_is_agreement_by_chance() -> None:
    assert cohen_kappa(np.array([0]), np.array([1])) == Agreement(0.0, 1)


def test_kappa_needs_the_same_units() -> None:
    with pytest.raises(ValueError, match="same units"):
        cohen_kappa(np.array([1, 2]), np.array([1]))
