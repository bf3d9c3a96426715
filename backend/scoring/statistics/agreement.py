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

from backend.core.messages import said

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]
Weights = Literal["plain", "linear", "quadratic"]

MIN_SHARED = 50
"""Two annotators with fewer shared pairs have no kappa worth showing."""

NO_TWO_GRADES = said("no pair has two grades")
ALL_THE_SAME = said("all grades are the same")
ONE_GRADE = said("both gave every pair the same single grade")


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


def coincidences(counts: Integers) -> Floats:
    """Krippendorff's coincidences of each unit, shape [units, grades, grades]; nothing of units with one grade.

    Those of several units together are their sum, and its sum the number of grades that can be compared.
    """
    size = counts.sum(axis=1)
    given = counts.astype(np.float64)
    matrix: Floats = given[:, :, None] * given[:, None, :]
    matrix[:, np.arange(counts.shape[1]), np.arange(counts.shape[1])] -= given
    matrix /= np.maximum(size - 1, 1)[:, None, None]
    return matrix


def krippendorff_alpha(counts: Integers, level: Level = "ordinal", times: Integers | None = None) -> Agreement:
    """Krippendorff's alpha; 1 is perfect, 0 is chance, below 0 is systematic disagreement.

    With the coincidences o_ck = sum over units u of n_uc (n_uk - [c = k]) / (m_u - 1), where n_uc counts grade c
    in unit u and m_u >= 2 its grades, the margins n_c = sum_k o_ck and n = sum_c n_c:

        alpha = 1 - (n - 1) * sum_ck o_ck d_ck / sum_ck n_c n_k d_ck

    and d_ck = [c != k] (nominal), (c - k)^2 (interval) or (sum_{g=c..k} n_g - (n_c + n_k) / 2)^2 (ordinal).

    Args:
        counts: Shape [units, grades]. Units with fewer than two grades carry no information and are left out.
        level: How far apart two different grades are taken to be.
        times: How many units were graded so, shape [units]; once each if not given.

    Returns:
        `n` is the number of grades that can be compared. Undefined without any unit of two grades, and when all
        such grades are one and the same (chance alone would then agree always).

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
    """Alpha of each matrix of coincidences, shape [...] for [..., grades, grades]; NaN where it is undefined."""
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
    found = np.full(expected.shape, np.nan)
    np.divide((n - 1) * observed, expected, out=found, where=expected > 0)
    return 1 - found


def observed_agreement(counts: Integers, within: int = 0, times: Integers | None = None) -> Agreement:
    """The share of comparisons of two grades of one unit that differ by at most `within`, 0..1.

    Exact agreement is `within=0`. Comparisons are weighted as in Krippendorff's coincidences, 1 / (m_u - 1), so
    that a unit with four grades counts as four grades and not as six comparisons. `times` is as for alpha.

    >>> observed_agreement(np.array([[1, 1, 0, 0, 0], [0, 2, 0, 0, 0]]))
    Agreement(value=0.5, n=4, reason='')
    """
    coincidence = _together(counts, times)
    total = float(coincidence.sum())
    if total == 0:
        return Agreement(None, 0, NO_TWO_GRADES)
    return Agreement(float(shares_within(coincidence, within)), round(total))


def shares_within(coincidence: Floats, within: int = 0) -> Floats:
    """The share of each matrix of coincidences that differs by at most `within`, shape [...]; NaN where it is empty."""
    near = _disagreement("linear", coincidence.shape[-1]) <= within
    total = coincidence.sum(axis=(-2, -1))
    found = np.full(total.shape, np.nan)
    np.divide((coincidence * near).sum(axis=(-2, -1)), total, out=found, where=total > 0)
    return found


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
    value = float(kappas(table.reshape(grades, grades), weights))
    if np.isnan(value):
        why = ONE_GRADE if first.size else said("no shared pairs")
        return Agreement(None, int(first.size), why)
    return Agreement(value, int(first.size))


def kappas(tables: Integers, weights: Weights = "plain") -> Floats:
    """Cohen's kappa of each table, shape [...] for [..., grades, grades]; NaN where no disagreement can be expected."""
    disagreement = _disagreement(weights, tables.shape[-1])
    rows, columns, n = tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))
    observed = np.einsum("...ck,ck->...", tables, disagreement) * n
    expected = np.einsum("...c,ck,...k->...", rows, disagreement, columns, optimize=True)
    found = np.full(expected.shape, np.nan)
    np.divide(observed, expected, out=found, where=expected > 0)
    return 1 - found


def mean_kappa(found: "Couples", weights: Weights, min_shared: int) -> Agreement:
    """Return the unweighted mean of Cohen's kappa over all couples of annotators with enough shared units.

    Couples whose kappa is undefined are left out.

    Args:
        found: the couples, see `couples_of`.
        weights: see `cohen_kappa`.
        min_shared: the fewest shared units that a couple needs to count.

    Returns:
        `n` is the number of couples in the mean. Undefined where there is none.

    >>> two = np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 1] * 4), np.array([0, 0, 1, 1, 4, 4, 4, 3])
    >>> mean_kappa(couples_of(*two), "plain", 4)
    Agreement(value=0.6666666666666667, n=1, reason='')
    >>> mean_kappa(couples_of(*two), "plain", MIN_SHARED).reason
    'no two annotators share 50 pairs'
    """
    if not len(found.couples):
        return Agreement(None, 0, said("no pair was graded by two annotators"))
    tables = found.tables()
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
    """What every two annotators gave to the units that both graded.

    `couples`, of shape [couples, 2], names the two annotators of each, the lower code first. `unit` and `cell`, of
    shape [comparisons], say of each comparison which unit it is of, and where in the tables it is counted.
    """

    couples: NDArray[np.int64]
    unit: NDArray[np.int64]
    cell: NDArray[np.int64]
    grades: int

    def tables(self) -> NDArray[np.int64]:
        """How often two annotators gave which two grades, shape [couples, grades, grades]; the first one's in rows."""
        size = self.grades**2
        found = np.bincount(self.cell, minlength=len(self.couples) * size)
        return found.reshape(-1, self.grades, self.grades)


def couples_of(unit: Integers, annotator: Integers, grade: Integers) -> Couples:
    """Compare every two annotators; one who graded a unit twice counts with the first grade.

    >>> found = couples_of(np.array([0, 0, 1, 1]), np.array([0, 2, 2, 0]), np.array([1, 0, 1, 1]))
    >>> found.couples.tolist(), found.tables().tolist()
    ([[0, 2]], [[[0, 0], [1, 1]]])
    """
    kept = first_per_annotator(unit, annotator)
    # Sorted by annotator within a unit, so that each couple has one key and one orientation of its table.
    kept = kept[np.lexsort((annotator[kept], unit[kept]))]
    unit, annotator, grade = (column[kept].astype(np.int64) for column in (unit, annotator, grade))
    grades = _grades_in(grade)
    people = int(annotator.max()) + 1 if annotator.size else 1
    units, keys, cells = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    for step in range(1, unit.size):
        here = np.flatnonzero(unit[step:] == unit[:-step])
        if not here.size:
            break
        units.append(unit[here])
        keys.append(annotator[here] * people + annotator[here + step])
        cells.append(grade[here] * grades + grade[here + step])
    key, couple = np.unique(np.concatenate(keys), return_inverse=True)
    names = np.stack(np.divmod(key, people), axis=1)
    return Couples(names, np.concatenate(units), couple * grades**2 + np.concatenate(cells), grades)


def _together(counts: Integers, times: Integers | None) -> Floats:
    """The coincidences of all units, shape [grades, grades]."""
    each = coincidences(counts)
    found: Floats = each.sum(axis=0) if times is None else np.tensordot(times, each, 1)
    return found


def _disagreement(weights: Weights, grades: int) -> Floats:
    """How far apart two grades are taken to be, shape [grades, grades]."""
    distance = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(np.float64)
    return {"plain": np.minimum(distance, 1), "linear": distance, "quadratic": distance**2}[weights]


def _grades_in(*given: Integers) -> int:
    """So many grades a table needs; what nobody gave does not change a kappa."""
    return max((int(grade.max()) for grade in given if grade.size), default=0) + 1
