"""Describe each annotator's grades: how often each grade is used, the bias, and confidence intervals.

An annotator's *bias* is the mean of their grades minus the **unrounded mean of the grades that others gave to the same
pairs**: above 0 they are more generous. Their own grades are left out of that mean, because they would pull it towards
the annotator. The mean is not rounded, because rounding halves up would make everybody look strict. Pairs that nobody
else graded are left out.

Intervals: people grade one query after the other, and a query's pairs are alike. Intervals over single grades would
therefore be too narrow. So the unit is a run: 20 grades given one after the other, as in the method of batch means. The
intervals are Student's t intervals over the means of runs. They are 99 % intervals, because a lead looks at dozens of
people every day. Of 95 % intervals, one in twenty would miss the truth.

These figures are for leads to read; they have no effect by themselves.

Sources: A. M. Law, "Simulation Modeling and Analysis", chapter 9 (batch means); B. L. Welch, "The generalization of
'Student's' problem when several different population variances are involved" (1947).
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from backend.core.messages import said
from backend.scoring.statistics.agreement import Agreement, Floats, Integers

MOST_USED_SHARE = 0.45
"""Giving one grade more often than this is worth a look."""

NOBODY_ELSE = said("nobody else graded their pairs")


def others_mean(pair: Integers, annotator: Integers, grade: Integers) -> Floats:
    """Return for each given grade the mean of the grades that others gave to its pair; NaN where nobody else graded it.

    The three columns hold pair, annotator and grade of each given grade. Repeated grades of other people count too. All
    grades of the same annotator are left out.

    >>> others_mean(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), np.array([4, 1, 2, 3])).tolist()
    [1.5, 3.0, 2.5, nan]
    """
    if not pair.size:
        return np.empty(0)
    people = int(annotator.max()) + 1
    _, own = np.unique(pair.astype(np.int64) * people + annotator, return_inverse=True)
    n = np.bincount(pair)[pair] - np.bincount(own)[own]
    total = np.bincount(pair, weights=grade)[pair] - np.bincount(own, weights=grade)[own]
    means = np.full(pair.size, np.nan)
    np.divide(total, n, out=means, where=n > 0)
    return means


def leanings(pair: Integers, annotator: Integers, grade: Integers) -> Floats:
    """Return each given grade minus the mean of the others' grades of its pair; NaN where nobody else graded it."""
    return grade - others_mean(pair, annotator, grade)


def biases(leaning: Floats, annotator: Integers, people: int) -> list[Agreement]:
    """Return each person's mean difference from the others' grades of the same pairs.

    `leaning` has the difference of each given grade, from `leanings`, and `people` is the number of people. The `n` of
    a result is the number of grades that could be compared.

    >>> lean = leanings(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([4, 1, 2]))
    >>> [one.value for one in biases(lean, np.array([0, 1, 2]), 3)]
    [3.0, -3.0, None]
    """
    known = ~np.isnan(leaning)
    n = np.bincount(annotator[known], minlength=people)
    total = np.bincount(annotator[known], weights=leaning[known], minlength=people)
    return [
        Agreement(float(sum_) / int(count), int(count)) if count else Agreement(None, 0, NOBODY_ELSE)
        for sum_, count in zip(total, n, strict=True)
    ]


def histograms(annotator: Integers, grade: Integers, people: int, grades: int) -> NDArray[np.int64]:
    """Return how often each person gave each grade, shape [people, grades of the scale]."""
    cells = annotator.astype(np.int64) * grades + grade
    return np.bincount(cells, minlength=people * grades).reshape(people, grades)


def most_used(histogram: Integers) -> tuple[int, float] | None:
    """Return the most used grade and its share; None if no grade was given.

    `histogram` counts each grade, beginning with 0. Of equally used grades, the lowest is returned.

    >>> most_used(np.array([1, 0, 3]))
    (2, 0.75)
    """
    total = int(histogram.sum())
    if not total:
        return None
    grade = int(histogram.argmax())
    return grade, int(histogram[grade]) / total


SURE = 0.99


RUN = 20
"""Grades in a run: as many as the usual batch has."""


Interval = tuple[float, float]


def of_mean(values: Floats) -> Interval | None:
    """Return the 99 % interval of the mean of values in order of time; None for fewer than 40 values.

    It is computed over the means of runs of 20 consecutive values, because neighbouring values are alike.

    >>> import numpy as np
    >>> [round(end, 3) for end in of_mean(np.repeat([0.0, 1.0], 20))]
    [-31.328, 32.328]
    """
    means = runs(values)
    if len(means) < 2:
        return None
    reach = _student(len(means) - 1) * sqrt(_error(means))
    return float(values.mean()) - reach, float(values.mean()) + reach


def of_difference(new: Floats, old: Floats) -> Interval | None:
    """Return the 99 % interval of the mean of `new` minus the mean of `old`; None if one has fewer than 40 values.

    It is computed over the means of runs of 20 consecutive values, because neighbouring values are alike.

    The degrees of freedom are Welch's, because new and old values may differ in number and in spread.

    >>> import numpy as np
    >>> [round(end, 3) for end in of_difference(np.repeat([2.0, 4.0], 20), np.repeat([0.0, 1.0, 2.0], 20))]
    [-13.84, 17.84]
    """
    if min(len(runs(new)), len(runs(old))) < 2:
        return None
    errors = [_error(runs(values)) for values in (new, old)]
    difference, error = float(new.mean() - old.mean()), sum(errors)
    if error == 0:
        return difference, difference
    freedom = error**2 / sum(term**2 / (len(runs(values)) - 1) for term, values in zip(errors, (new, old), strict=True))
    reach = _student(freedom) * sqrt(error)
    return difference - reach, difference + reach


def runs(values: Floats) -> Floats:
    """Return the mean of each run of 20 consecutive values. Values left over at the beginning are dropped.

    >>> import numpy as np
    >>> runs(np.arange(45.0)).tolist()
    [14.5, 34.5]
    """
    means: Floats = values[len(values) % RUN :].reshape(-1, RUN).mean(axis=1)
    return means


def _error(means: Floats) -> float:
    """Return the squared standard error of the mean of all values, from the means of runs of 20 consecutive values."""
    return float(means.var(ddof=1)) / len(means)


def _student(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + SURE) / 2))
