"""What every single annotator's grades look like: how they spread, how they lean.

Somebody's *bias* is the mean of their grade minus the **unrounded mean of the grades that others gave to the same
pair**: above 0 they are more generous. Their own grades are left out of that mean, and nothing is rounded: against the
relevance everybody would look strict, because halves are rounded up, and everybody near, because their own grade is in
it. A pair that nobody else graded says nothing.

All of it is description for the lead's eyes; nothing acts by it.
"""

import numpy as np
from numpy.typing import NDArray

from backend.core.messages import said
from backend.scoring.statistics.agreement import Agreement, Floats, Integers

MOST_USED_SHARE = 0.45
"""Whoever gives one grade more often than this is worth a look."""

NOBODY_ELSE = said("nobody else graded their pairs")


def others_mean(pair: Integers, annotator: Integers, grade: Integers) -> Floats:
    """The mean of the grades that others gave to each row's pair, shape [rows]; NaN where nobody else graded it.

    All grades of other people count, repeated ones too; none of the row's own annotator does.

    >>> others_mean(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), np.array([4, 1, 2, 3])).tolist()
    [1.5, 3.0, 2.5, nan]
    """
    if not pair.size:
        return np.empty(0)
    people = int(annotator.max()) + 1
    _, own = np.unique(pair.astype(np.int64) * people + annotator, return_inverse=True)
    n = np.bincount(pair)[pair] - np.bincount(own)[own]
    total = np.bincount(pair, weights=grade)[pair] - np.bincount(own, weights=grade)[own]
    found = np.full(pair.size, np.nan)
    np.divide(total, n, out=found, where=n > 0)
    return found


def leanings(pair: Integers, annotator: Integers, grade: Integers) -> Floats:
    """Each grade minus the mean of what others gave to its pair, shape [rows]; NaN where nobody else graded it."""
    return grade - others_mean(pair, annotator, grade)


def biases(leaning: Floats, annotator: Integers, people: int) -> list[Agreement]:
    """The mean leaning of each of so many people; `n` is the number of grades that can be compared.

    >>> lean = leanings(np.array([0, 0, 1]), np.array([0, 1, 2]), np.array([4, 1, 2]))
    >>> [one.value for one in biases(lean, np.array([0, 1, 2]), 3)]
    [3.0, -3.0, None]
    """
    there = ~np.isnan(leaning)
    n = np.bincount(annotator[there], minlength=people)
    total = np.bincount(annotator[there], weights=leaning[there], minlength=people)
    return [
        Agreement(float(sum_) / int(count), int(count)) if count else Agreement(None, 0, NOBODY_ELSE)
        for sum_, count in zip(total, n, strict=True)
    ]


def histograms(annotator: Integers, grade: Integers, people: int, grades: int) -> NDArray[np.int64]:
    """How often each person gave each grade, shape [people, grades]."""
    cells = annotator.astype(np.int64) * grades + grade
    return np.bincount(cells, minlength=people * grades).reshape(people, grades)


def most_used(histogram: Integers) -> tuple[int, float] | None:
    """The grade that was given most often, the lowest of equals, and its share; None without any grade.

    Above `MOST_USED_SHARE` it is a flag.

    >>> most_used(np.array([1, 0, 3]))
    (2, 0.75)
    """
    total = int(histogram.sum())
    if not total:
        return None
    grade = int(histogram.argmax())
    return grade, int(histogram[grade]) / total
