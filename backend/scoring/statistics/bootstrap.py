"""Compute percentile bootstrap intervals over pairs, from a seed.

A resample draws as many pairs as there are, with replacement, each with all its grades. The annotators stay the same.
Some figures do not depend on who gave a grade. For them, pairs with the same grades (a grade pattern) are
interchangeable, and it is enough to draw how often a resample holds each pattern.

Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from backend.scoring.statistics.agreement import Couples, Floats, Integers, Weights, kappas
from backend.scoring.statistics.resampling import percentile_interval

RESAMPLES = 1_000
SEED = 0
LEVEL = 0.95
_AT_ONCE = 100
"""Number of resamples whose tables are held in memory together."""


def drawn_patterns(times: Integers | Floats, *, resamples: int = RESAMPLES, seed: int = SEED) -> NDArray[np.int64]:
    """Draw how many pairs of each grade pattern every resample holds, shape [resamples, patterns].

    A resample draws as many pairs as there are, with replacement. Pairs with the same grades have the same pattern.

    Args:
        times: how many pairs have each pattern.
        resamples: the number of resamples to draw.
        seed: the seed of the generator.
    """
    pairs = int(times.sum())
    if not pairs:
        return np.zeros((resamples, len(times)), dtype=np.int64)
    return np.random.default_rng(seed).multinomial(pairs, times / pairs, size=resamples)


def drawn_units(units: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[NDArray[np.int64]]:
    """Yield for each resample how often each unit (such as a pair) is drawn, shape [units]."""
    generator = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(generator.integers(0, units, units, dtype=np.uint32), minlength=units)


def mean_kappas(
    couples: Couples, units: int, min_shared: int, *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[Weights, Floats]:
    """Compute the mean of Cohen's kappa over couples of annotators, in every bootstrap resample of the units.

    The result has two arrays of shape [resamples]: `plain` and `quadratic`, the weights of disagreements. A couple
    counts if both graded at least `min_shared` units in the original data, so every resample uses the same couples. The
    mean is NaN where no kappa of a resample is defined.
    """
    mean_by_weights: dict[Weights, Floats] = {weights: np.full(resamples, np.nan) for weights in ("plain", "quadratic")}
    size = couples.grades**2
    enough = couples.tables().sum(axis=(1, 2)) >= min_shared
    is_counted = enough[couples.cell // size]
    if not is_counted.any():
        return mean_by_weights
    # Sorted by cell, the comparisons of a cell are adjacent, so `reduceat` can add them up.
    order = np.argsort(couples.cell[is_counted], kind="stable")
    unit, cell = couples.unit[is_counted][order], couples.cell[is_counted][order]
    cells, begins = np.unique(cell, return_index=True)
    place = (np.cumsum(enough) - 1)[cells // size] * size + cells % size
    draws = drawn_units(units, resamples=resamples, seed=seed)
    for begin in range(0, resamples, _AT_ONCE):
        tables = np.zeros((min(_AT_ONCE, resamples - begin), int(enough.sum()) * size), dtype=np.int64)
        for table, times in zip(tables, draws, strict=False):
            table[place] = np.add.reduceat(times[unit], begins)
        for weights, means in mean_by_weights.items():
            values = kappas(tables.reshape(len(tables), -1, couples.grades, couples.grades), weights)
            means[begin : begin + len(tables)] = _mean_of_defined(values)
    return mean_by_weights


def interval(samples: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """Return the central interval that holds the share `level` of the samples, ignoring NaN; None if all are NaN.

    >>> interval(np.array([0.0, 1.0, 2.0, np.nan]), 0.5)
    (0.5, 1.5)
    """
    defined = samples[~np.isnan(samples)]
    if not defined.size:
        return None
    low, high = percentile_interval(defined, level)
    return float(low), float(high)


def _mean_of_defined(values: Floats) -> Floats:
    """Return the mean of each row without its NaN, or NaN if the row has only NaN."""
    defined = ~np.isnan(values)
    means = np.full(len(values), np.nan)
    np.divide(np.where(defined, values, 0).sum(axis=1), defined.sum(axis=1), out=means, where=defined.any(axis=1))
    return means


def mean_samples(values: Floats, unit: Integers, *, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """Compute the mean of the values in every bootstrap resample of their units, shape [resamples].

    The mean is NaN for a resample without any value.

    Args:
        values: the values; NaN marks a missing one, which is left out.
        unit: the unit of each value; values of one unit are drawn together.
        resamples: the number of resamples to draw.
        seed: the seed of the generator.
    """
    defined = ~np.isnan(values)
    if not defined.any() or not resamples:
        return np.full(resamples, np.nan)
    _, code = np.unique(unit[defined], return_inverse=True)
    # Units with the same sum and number of values are interchangeable. Sums of thirds and halves often repeat.
    sums = np.round(np.bincount(code, weights=values[defined]), 9)
    kinds, times = np.unique(np.stack([sums, np.bincount(code)]), axis=1, return_counts=True)
    drawn = drawn_patterns(times, resamples=resamples, seed=seed)
    return np.asarray((drawn @ kinds[0]) / (drawn @ kinds[1]), dtype=np.float64)
