"""Agreement between annotators: chance-corrected and plain statistics over many pairs.

A *unit* is one query-moment pair. Grades arrive as parallel one-dimensional integer arrays (unit, annotator,
grade; codes counting from 0) or as `counts`, an array of shape [units, grades] that says how often each grade
was given to each unit. Every function returns an `Agreement`, which says why where the statistic
is undefined.

Sources: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E (any number of
annotators, gaps allowed); J. Cohen, "A coefficient of agreement for nominal scales" (1960) and "Weighted
kappa" (1968).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["plain", "linear", "quadratic"]

MIN_SHARED = 50
"""Two annotators with fewer shared pairs have no kappa worth showing."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """One statistic. `value` is None where it is undefined, and then `reason` says why; `n` is its base."""

    value: float | None
    n: int
    reason: str = ""


def count_grades(unit: Integers, grade: Integers, grades: int) -> NDArray[np.int64]:
    """How often each of so many grades was given to each unit, shape [units, grades].

    >>> count_grades(np.array([0, 0, 1]), np.array([4, 4, 2]), 5).tolist()
    [[0, 0, 0, 0, 2], [0, 0, 1, 0, 0]]
    """
    units = int(unit.max()) + 1 if unit.size else 0
    cells = unit.astype(np.int64) * grades + grade
    return np.bincount(cells, minlength=units * grades).reshape(units, grades)


def first_per_annotator(unit: Integers, annotator: Integers) -> NDArray[np.int64]:
    """Indices, ascending, of the first grade that each annotator gave to each unit.

    >>> first_per_annotator(np.array([0, 0, 0, 1]), np.array([7, 7, 2, 7])).tolist()
    [0, 2, 3]
    """
    if not unit.size:
        return np.empty(0, dtype=np.int64)
    key = unit.astype(np.int64) * (int(annotator.max()) + 1) + annotator
    return np.sort(np.unique(key, return_index=True)[1])


def krippendorff_alpha(counts: Integers, level: Level = "ordinal") -> Agreement:
    """Krippendorff's alpha; 1 is perfect, 0 is chance, below 0 is systematic disagreement.

    With the coincidences o_ck = sum over units u of n_uc (n_uk - [c = k]) / (m_u - 1), where n_uc counts grade c
    in unit u and m_u >= 2 its grades, the margins n_c = sum_k o_ck and n = sum_c n_c:

        alpha = 1 - (n - 1) * sum_ck o_ck d_ck / sum_ck n_c n_k d_ck

    and d_ck = [c != k] (nominal), (c - k)^2 (interval) or (sum_{g=c..k} n_g - (n_c + n_k) / 2)^2 (ordinal).

    Args:
        counts: Shape [units, grades]. Units with fewer than two grades carry no information and are left out.
        level: How far apart two different grades are taken to be.

    Returns:
        `n` is the number of grades that can be compared. Undefined without any unit of two grades, and when all
        such grades are one and the same (chance alone would then agree always).

    >>> krippendorff_alpha(np.array([[2, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 2, 0, 0, 0]]), "nominal")
    Agreement(value=0.4444444444444444, n=6, reason='')
    """
    coincidence = _coincidences(counts)
    margin = coincidence.sum(axis=1)
    n = round(float(margin.sum()))
    if n == 0:
        return Agreement(None, 0, "no pair has two grades")
    if level == "ordinal":
        above = np.cumsum(margin)
        # Between grades c < k, sum_{g=c..k} n_g is above[k] - above[c] + n_c.
        span = np.abs(np.subtract.outer(above - margin / 2, above - margin / 2))
        distance = span**2
    else:
        distance = _disagreement("plain" if level == "nominal" else "quadratic", len(margin))
    expected = float((np.outer(margin, margin) * distance).sum())
    if expected == 0:
        return Agreement(None, n, "all grades are the same")
    return Agreement(1 - (n - 1) * float((coincidence * distance).sum()) / expected, n)


def observed_agreement(counts: Integers, within: int = 0) -> Agreement:
    """The share of comparisons of two grades of one unit that differ by at most `within`, 0..1.

    Exact agreement is `within=0`. Comparisons are weighted as in Krippendorff's coincidences, 1 / (m_u - 1), so
    that a unit with four grades counts as four grades and not as six comparisons.

    >>> observed_agreement(np.array([[1, 1, 0, 0, 0], [0, 2, 0, 0, 0]]))
    Agreement(value=0.5, n=4, reason='')
    """
    coincidence = _coincidences(counts)
    total = float(coincidence.sum())
    if total == 0:
        return Agreement(None, 0, "no pair has two grades")
    near = _disagreement("linear", len(coincidence)) <= within
    return Agreement(float(coincidence[near].sum()) / total, round(total))


def cohen_kappa(first: Integers, second: Integers, weights: Weights = "plain") -> Agreement:
    """Cohen's kappa of two annotators over the units that both graded.

    kappa = 1 - sum_ck w_ck p_ck / sum_ck w_ck p_c. p_.k, with p the table of shares by both grades, p_c. and p_.k its
    margins, and the disagreement w_ck = [c != k] (plain), |c - k| (linear) or (c - k)^2 (quadratic).

    Args:
        first: Grades of one annotator, shape [n].
        second: Grades of the other for the same units, shape [n].
        weights: The disagreement of two different grades.

    Returns:
        `n` is the number of shared units. Undefined without any, and when both gave one and the same grade
        throughout.

    Raises:
        ValueError: The arrays differ in length.

    >>> cohen_kappa(np.array([0, 1, 4, 4]), np.array([0, 1, 4, 3]))
    Agreement(value=0.6666666666666667, n=4, reason='')
    """
    if first.shape != second.shape:
        raise ValueError(f"grades of the same units are needed, got shapes {first.shape} and {second.shape}")
    grades = _grades_in(first, second)
    table = np.bincount(first.astype(np.int64) * grades + second, minlength=grades**2)
    value = float(_kappas(table.reshape(1, grades, grades), weights)[0]) if first.size else float("nan")
    if np.isnan(value):
        why = "both gave one and the same grade throughout" if first.size else "no shared pairs"
        return Agreement(None, int(first.size), why)
    return Agreement(value, int(first.size))


def mean_pairwise_kappa(
    unit: Integers,
    annotator: Integers,
    grade: Integers,
    weights: Weights = "plain",
    min_shared: int = MIN_SHARED,
) -> Agreement:
    """The unweighted mean of Cohen's kappa over all two annotators with enough shared units.

    An annotator who graded a unit twice counts with the first grade. Two annotators whose kappa is undefined
    are left out.

    Args:
        unit: Code of the unit, shape [grades].
        annotator: Code of the annotator, shape [grades].
        grade: From 0 on, shape [grades].
        weights: See `cohen_kappa`.
        min_shared: The fewest shared units that two annotators need to count.

    Returns:
        `n` is the number of couples of annotators in the mean. Undefined where there is none.

    >>> two = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 1] * 4), np.array([0, 0, 1, 1, 4, 4, 4, 3])
    >>> mean_pairwise_kappa(*two, min_shared=4)
    Agreement(value=0.6666666666666667, n=1, reason='')
    >>> mean_pairwise_kappa(*two).reason
    'no two annotators share 50 pairs'
    """
    kept = first_per_annotator(unit, annotator)
    # Sorted by annotator within a unit, so that each couple has one key and one orientation of its table.
    kept = kept[np.lexsort((annotator[kept], unit[kept]))]
    unit, annotator, grade = (column[kept].astype(np.int64) for column in (unit, annotator, grade))
    grades = _grades_in(grade)
    couples: list[NDArray[np.int64]] = []
    cells: list[NDArray[np.int64]] = []
    people = int(annotator.max()) + 1 if annotator.size else 0
    for step in range(1, unit.size):
        here = np.flatnonzero(unit[step:] == unit[:-step])
        if not here.size:
            break
        couples.append(annotator[here] * people + annotator[here + step])
        cells.append(grade[here] * grades + grade[here + step])
    if not couples:
        return Agreement(None, 0, "no pair was graded by two annotators")
    _, couple = np.unique(np.concatenate(couples), return_inverse=True)
    flat = np.bincount(couple * grades**2 + np.concatenate(cells), minlength=(couple.max() + 1) * grades**2)
    tables = flat.reshape(-1, grades, grades)
    tables = tables[tables.sum(axis=(1, 2)) >= min_shared]
    if not len(tables):
        return Agreement(None, 0, f"no two annotators share {min_shared} pairs")
    values = _kappas(tables, weights)
    values = values[~np.isnan(values)]
    if not values.size:
        return Agreement(None, 0, "everybody gave one and the same grade throughout")
    return Agreement(float(values.mean()), int(values.size))


def _disagreement(weights: Weights, grades: int) -> Floats:
    """How far apart two grades are taken to be, shape [grades, grades]."""
    distance = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(np.float64)
    return {"plain": np.minimum(distance, 1), "linear": distance, "quadratic": distance**2}[weights]


def _grades_in(*given: Integers) -> int:
    """So many grades a table needs; what nobody gave does not change a kappa."""
    return max((int(grade.max()) for grade in given if grade.size), default=0) + 1


def _coincidences(counts: Integers) -> Floats:
    """Krippendorff's coincidences, shape [grades, grades]; their sum is the number of grades that can be compared."""
    size = counts.sum(axis=1)
    compared = counts[size > 1].astype(np.float64)
    weighted = compared / (size[size > 1, None] - 1)
    matrix: Floats = weighted.T @ compared - np.diag(weighted.sum(axis=0))
    return matrix


def _kappas(tables: Integers, weights: Weights) -> Floats:
    """Kappa of each table, in all of shape [tables, grades, grades]; NaN where no disagreement can be expected."""
    disagreement = _disagreement(weights, tables.shape[1])
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    observed = (tables * disagreement).sum(axis=(1, 2)) * n
    expected = (rows[:, :, None] * columns[:, None, :] * disagreement).sum(axis=(1, 2))
    kappas = np.full(len(tables), np.nan)
    np.divide(observed, expected, out=kappas, where=expected > 0)
    return 1 - kappas
