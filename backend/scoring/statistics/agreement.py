"""Measure agreement between annotators over many pairs, plain or corrected for chance.

A *unit* is one query-moment pair. Grades arrive as three parallel one-dimensional integer arrays: unit, annotator and
grade, with codes from 0. Or they arrive as `counts`, an array of shape [units, grades] with how often each grade was
given to each unit. Functions that return an `Agreement` give the reason where the statistic is undefined.

Sources: K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section E (any number of
annotators, gaps allowed); J. Cohen, "A coefficient of agreement for nominal scales" (1960) and "Weighted
kappa" (1968).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from backend.core.messages import said

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["plain", "linear", "quadratic"]

MIN_SHARED = 50
"""The fewest shared pairs for which the kappa of two annotators is shown."""

NO_TWO_GRADES = said("no pair has two grades")
ALL_THE_SAME = said("all grades are the same")
ONE_GRADE = said("both gave every pair the same single grade")


@dataclass(frozen=True, slots=True)
class Agreement:
    """The value of one statistic of agreement between annotators.

    `value` is None where it is undefined, and `reason` then says why. `n` is the number of grades, pairs or couples of
    annotators from which the value was computed; each function says which.
    """

    value: float | None
    n: int
    reason: str = ""


def count_grades(unit: Integers, grade: Integers, grades: int) -> NDArray[np.int64]:
    """Count how often each grade was given to each unit, shape [units, grades].

    >>> count_grades(np.array([0, 0, 1]), np.array([4, 4, 2]), 5).tolist()
    [[0, 0, 0, 0, 2], [0, 0, 1, 0, 0]]
    """
    units = int(unit.max()) + 1 if unit.size else 0
    cells = unit.astype(np.int64) * grades + grade
    return np.bincount(cells, minlength=units * grades).reshape(units, grades)


def first_per_annotator(unit: Integers, annotator: Integers) -> NDArray[np.int64]:
    """Return the ascending indices of the first grade that each annotator gave to each unit.

    >>> first_per_annotator(np.array([0, 0, 0, 1]), np.array([7, 7, 2, 7])).tolist()
    [0, 2, 3]
    """
    if not unit.size:
        return np.empty(0, dtype=np.int64)
    key = unit.astype(np.int64) * (int(annotator.max()) + 1) + annotator
    return np.sort(np.unique(key, return_index=True)[1])


def coincidences(counts: Integers) -> Floats:
    """Return each unit's coincidences: how often two of its grades were c and k, shape [units, grades, grades].

    A unit is one query-moment pair. Entry [u, c, k] counts the ordered pairs of grades c and k in unit u, divided by
    its number of grades minus 1. Krippendorff's alpha is computed from the sum over units. All entries are 0 for a unit
    with fewer than two grades. The sum of all entries is the number of comparable grades.
    """
    size = counts.sum(axis=1)
    frequencies = counts.astype(np.float64)
    matrix: Floats = frequencies[:, :, None] * frequencies[:, None, :]
    matrix[:, np.arange(counts.shape[1]), np.arange(counts.shape[1])] -= frequencies
    matrix /= np.maximum(size - 1, 1)[:, None, None]
    return matrix


def krippendorff_alpha(counts: Integers, level: Level = "ordinal", times: Integers | None = None) -> Agreement:
    """Compute Krippendorff's alpha: 1 is perfect agreement, 0 is chance, below 0 is systematic disagreement.

    The coincidences are o_ck = sum over units u of n_uc (n_uk - [c = k]) / (m_u - 1). Here n_uc is how often unit u
    has grade c, and m_u >= 2 is the number of its grades. With the margins n_c = sum_k o_ck and n = sum_c n_c:

        alpha = 1 - (n - 1) * sum_ck o_ck d_ck / sum_ck n_c n_k d_ck

    The distance d_ck is [c != k] (nominal), (c - k)^2 (interval) or (sum_{g=c..k} n_g - (n_c + n_k) / 2)^2 (ordinal).

    Args:
        counts: Shape [units, grades]. Units with fewer than two grades carry no information and are left out.
        level: The distance between two different grades.
        times: How many units have each row of grades, shape [units]; one each if not given.

    Returns:
        `n` is the number of grades that can be compared. Alpha is undefined without a unit of two grades, and when all
        such grades are the same (chance alone would then always agree).

    >>> krippendorff_alpha(np.array([[2, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 2, 0, 0, 0]]), "nominal")
    Agreement(value=0.4444444444444444, n=6, reason='')
    """
    coincidence = _together(counts, times)
    n = round(float(coincidence.sum()))
    if n == 0:
        return Agreement(None, 0, NO_TWO_GRADES)
    value = float(alphas(coincidence, level))
    return Agreement(None, n, ALL_THE_SAME) if np.isnan(value) else Agreement(value, n)


def alphas(coincidence: Floats, level: Level = "ordinal") -> Floats:
    """Compute Krippendorff's alpha from each matrix of coincidences; NaN where it is undefined.

    A matrix tells how often two grades of one unit were c and k; see `coincidences`. `coincidence` has shape [...,
    grades, grades], and the result has shape [...].
    """
    margin = coincidence.sum(axis=-1)
    n = margin.sum(axis=-1)
    if level == "ordinal":
        # Between grades c < k, sum_{g=c..k} n_g is above[k] - above[c] + n_c.
        above = np.cumsum(margin, axis=-1) - margin / 2
        distance = (above[..., :, None] - above[..., None, :]) ** 2
    else:
        distance = _disagreement("plain" if level == "nominal" else "quadratic", margin.shape[-1])
    observed = (coincidence * distance).sum(axis=(-2, -1))
    expected = (margin[..., :, None] * margin[..., None, :] * distance).sum(axis=(-2, -1))
    ratio = np.full(expected.shape, np.nan)
    np.divide((n - 1) * observed, expected, out=ratio, where=expected > 0)
    return 1 - ratio


def observed_agreement(counts: Integers, within: int = 0, times: Integers | None = None) -> Agreement:
    """Compute the share of comparisons, 0..1, in which two grades of one unit differ by at most `within`.

    Exact agreement is `within=0`. Comparisons are weighted by 1 / (m_u - 1), as in Krippendorff's coincidences. A unit
    with four grades thus counts as four grades and not as six comparisons. `times` tells how many units have each row
    of grades, shape [units]; one each if not given.

    >>> observed_agreement(np.array([[1, 1, 0, 0, 0], [0, 2, 0, 0, 0]]))
    Agreement(value=0.5, n=4, reason='')
    """
    coincidence = _together(counts, times)
    total = float(coincidence.sum())
    if total == 0:
        return Agreement(None, 0, NO_TWO_GRADES)
    return Agreement(float(shares_within(coincidence, within)), round(total))


def shares_within(coincidence: Floats, within: int = 0) -> Floats:
    """Compute the share of pairs of grades that differ by at most `within`, for each matrix of coincidences.

    A matrix tells how often two grades of one unit were c and k; see `coincidences`. It has shape [grades, grades], and
    `coincidence` may hold several. The result has one share for each, NaN where a matrix has only zeros.
    """
    near = _disagreement("linear", coincidence.shape[-1]) <= within
    total = coincidence.sum(axis=(-2, -1))
    shares = np.full(total.shape, np.nan)
    np.divide((coincidence * near).sum(axis=(-2, -1)), total, out=shares, where=total > 0)
    return shares


def cohen_kappa(first: Integers, second: Integers, weights: Weights = "plain") -> Agreement:
    """Compute Cohen's kappa of two annotators over the units that both graded.

    kappa = 1 - sum_ck w_ck p_ck / sum_ck w_ck p_c. p_.k. Here p_ck is the share of units to which the first annotator
    gave grade c and the second gave grade k. The margins p_c. and p_.k are its sums over k and over c. The disagreement
    w_ck is [c != k] (plain), |c - k| (linear) or (c - k)^2 (quadratic).

    Args:
        first: Grades of one annotator, shape [n].
        second: Grades of the other for the same units, shape [n].
        weights: The disagreement of two different grades.

    Returns:
        `n` is the number of shared units. Kappa is undefined without any, and when both annotators gave one and the
        same grade to all of them.

    Raises:
        ValueError: The arrays differ in length.

    >>> cohen_kappa(np.array([0, 1, 4, 4]), np.array([0, 1, 4, 3]))
    Agreement(value=0.6666666666666667, n=4, reason='')
    """
    if first.shape != second.shape:
        raise ValueError(f"grades of the same units are needed, got shapes {first.shape} and {second.shape}")
    grades = _grades_in(first, second)
    table = np.bincount(first.astype(np.int64) * grades + second, minlength=grades**2)
    value = float(kappas(table.reshape(grades, grades), weights))
    if np.isnan(value):
        why = ONE_GRADE if first.size else said("no shared pairs")
        return Agreement(None, int(first.size), why)
    return Agreement(value, int(first.size))


def kappas(tables: Integers | Floats, weights: Weights = "plain") -> Floats:
    """Compute Cohen's kappa from each table of two annotators' grades; NaN where chance alone gives no disagreement.

    Entry [c, k] of a table counts the units to which the first annotator gave grade c and the second gave grade k.
    `tables` has shape [..., grades, grades], and the result has shape [...].
    """
    disagreement = _disagreement(weights, tables.shape[-1])
    rows, columns, n = tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))
    observed = np.einsum("...ck,ck->...", tables, disagreement) * n
    expected = np.einsum("...c,ck,...k->...", rows, disagreement, columns, optimize=True)
    ratio = np.full(expected.shape, np.nan)
    np.divide(observed, expected, out=ratio, where=expected > 0)
    return 1 - ratio


def mean_kappa(couples: "Couples", weights: Weights, min_shared: int) -> Agreement:
    """Compute the unweighted mean of Cohen's kappa over all couples of annotators with enough shared units.

    Couples whose kappa is undefined are left out.

    Args:
        couples: the couples, see `couples_of`.
        weights: see `cohen_kappa`.
        min_shared: the fewest shared units that a couple needs to count.

    Returns:
        `n` is the number of couples in the mean. The mean is undefined if there is none.

    >>> two = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 1] * 4), np.array([0, 0, 1, 1, 4, 4, 4, 3])
    >>> mean_kappa(couples_of(*two), "plain", 4)
    Agreement(value=0.6666666666666667, n=1, reason='')
    >>> mean_kappa(couples_of(*two), "plain", MIN_SHARED).reason
    'no two annotators share 50 pairs'
    """
    if not len(couples.couples):
        return Agreement(None, 0, said("no pair was graded by two annotators"))
    tables = couples.tables()
    tables = tables[tables.sum(axis=(1, 2)) >= min_shared]
    if not len(tables):
        return Agreement(None, 0, said("no two annotators share {pairs} pairs", pairs=min_shared))
    values = kappas(tables, weights)
    values = values[~np.isnan(values)]
    if not values.size:
        return Agreement(None, 0, said("everybody gave every pair the same single grade"))
    return Agreement(float(values.mean()), int(values.size))


@dataclass(frozen=True, slots=True, eq=False)
class Couples:
    """The grades of every two annotators, for the units that both of them graded.

    `couples`, shape [couples, 2], holds the two annotators of each couple, the lower code first. A comparison is the
    two grades of a couple for one unit. `unit`, shape [comparisons], gives its unit. `cell` gives the place where
    `tables` counts it, as an index into the flattened tables. `grades` is the number of different grades.
    """

    couples: NDArray[np.int64]
    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    grades: int

    def tables(self) -> NDArray[np.int64]:
        """Count how often each couple gave each pair of grades, shape [couples, grades, grades].

        The first annotator's grades are the rows.
        """
        size = self.grades**2
        counts = np.bincount(self.cell, minlength=len(self.couples) * size)
        return counts.reshape(-1, self.grades, self.grades)


def couples_of(unit: Integers, annotator: Integers, grade: Integers) -> Couples:
    """Pair up all annotators who share units. If one graded a unit twice, the first grade counts.

    >>> found = couples_of(np.array([0, 0, 1, 1]), np.array([0, 2, 2, 0]), np.array([1, 0, 1, 1]))
    >>> found.couples.tolist(), found.tables().tolist()
    ([[0, 2]], [[[0, 0], [1, 1]]])
    """
    indices = first_per_annotator(unit, annotator)
    # Sort by annotator within a unit, so that a couple always has the same key and its table the same orientation.
    indices = indices[np.lexsort((annotator[indices], unit[indices]))]
    unit, annotator, grade = (column[indices].astype(np.int64) for column in (unit, annotator, grade))
    grades = _grades_in(grade)
    people = int(annotator.max()) + 1 if annotator.size else 1
    units, keys, cells = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    for step in range(1, unit.size):
        same_unit = np.flatnonzero(unit[step:] == unit[:-step])
        if not same_unit.size:
            break
        units.append(unit[same_unit])
        keys.append(annotator[same_unit] * people + annotator[same_unit + step])
        cells.append(grade[same_unit] * grades + grade[same_unit + step])
    key, couple = np.unique(np.concatenate(keys), return_inverse=True)
    names = np.stack(np.divmod(key, people), axis=1)
    return Couples(names, np.concatenate(units), couple * grades**2 + np.concatenate(cells), grades)


def _together(counts: Integers, times: Integers | None) -> Floats:
    each = coincidences(counts)
    total: Floats = each.sum(axis=0) if times is None else np.tensordot(times, each, 1)
    return total


def _disagreement(weights: Weights, grades: int) -> Floats:
    """Return the disagreement of every two grades, shape [grades, grades]; it is w_ck in `cohen_kappa`."""
    distance = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(np.float64)
    return {"plain": np.minimum(distance, 1), "linear": distance, "quadratic": distance**2}[weights]


def _grades_in(*columns: Integers) -> int:
    """Return the number of rows of a table that can count all grades in `columns`: the highest grade plus 1."""
    return max((int(grade.max()) for grade in columns if grade.size), default=0) + 1
