"""Agreement statistics against slow definitions, other libraries and cases where they are undefined."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from backend.campaign.quality.rules.agreement import (
    Agreement,
    Weights,
    cohen_kappa,
    count_grades,
    first_per_annotator,
    krippendorff_alpha,
    mean_pairwise_kappa,
    observed_agreement,
)

Column = NDArray[np.int64]


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


def test_units_with_one_grade_change_no_alpha() -> None:
    counts = np.array([[2, 0, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 0, 0, 3]])
    lonely = np.array([[0, 0, 1, 0, 0], [0, 0, 0, 0, 0]])
    assert krippendorff_alpha(np.vstack([counts, lonely])) == krippendorff_alpha(counts)


def test_first_grade_of_an_annotator_is_the_one_first_in_the_file() -> None:
    unit, annotator = np.array([3, 3, 0, 3, 0]), np.array([1, 0, 1, 1, 0])
    assert first_per_annotator(unit, annotator).tolist() == [0, 1, 2, 4]


NOTHING = np.array([], dtype=np.int64)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (krippendorff_alpha(count_grades(NOTHING, NOTHING, 5)), Agreement(None, 0, "no pair has two grades")),
        (krippendorff_alpha(np.eye(5, dtype=np.int64)), Agreement(None, 0, "no pair has two grades")),
        (krippendorff_alpha(np.array([[0, 0, 2, 0, 0]])), Agreement(None, 2, "all grades are the same")),
        (observed_agreement(np.eye(5, dtype=np.int64)), Agreement(None, 0, "no pair has two grades")),
        (cohen_kappa(NOTHING, NOTHING), Agreement(None, 0, "no shared pairs")),
        (
            cohen_kappa(np.array([2, 2]), np.array([2, 2]), "quadratic"),
            Agreement(None, 2, "both gave one and the same grade throughout"),
        ),
        (
            mean_pairwise_kappa(NOTHING, NOTHING, NOTHING),
            Agreement(None, 0, "no pair was graded by two annotators"),
        ),
        (
            # Twice the same person is nobody to agree with.
            mean_pairwise_kappa(np.array([0, 0]), np.array([1, 1]), np.array([2, 3])),
            Agreement(None, 0, "no pair was graded by two annotators"),
        ),
        (
            mean_pairwise_kappa(np.array([0, 0]), np.array([1, 0]), np.array([2, 2]), min_shared=1),
            Agreement(None, 0, "everybody gave one and the same grade throughout"),
        ),
    ],
)
def test_undefined_says_why(found: Agreement, expected: Agreement) -> None:
    assert found == expected


def test_kappa_below_fifty_shared_pairs_is_not_shown() -> None:
    pairs = np.repeat(np.arange(50), 2)
    people = np.tile([0, 1], 50)
    grades = np.arange(100) % 5
    assert mean_pairwise_kappa(pairs, people, grades).n == 1
    assert mean_pairwise_kappa(pairs[:98], people[:98], grades[:98]).value is None


def test_kappa_needs_the_same_units() -> None:
    with pytest.raises(ValueError, match="same units"):
        cohen_kappa(np.array([1, 2]), np.array([1]))
