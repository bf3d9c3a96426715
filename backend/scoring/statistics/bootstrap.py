"""How sure a figure is: percentile bootstrap intervals over pairs, from a seed.

A resample draws as many pairs as there are, with replacement, each with all its grades: the people stay who they are.
Pairs graded alike cannot be told apart in a figure that does not ask who graded, so it is enough to draw how many of
each pattern a resample holds. Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.
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
"""Resamples whose tables are in memory together."""


def drawn_patterns(times: Integers, *, resamples: int = RESAMPLES, seed: int = SEED) -> NDArray[np.int64]:
    """How many pairs of each pattern every resample holds, shape [resamples, patterns].

    Args:
        times: how many pairs have each pattern.
        resamples: how many samples of the pairs are drawn.
        seed: of the generator.
    """
    pairs = int(times.sum())
    if not pairs:
        return np.zeros((resamples, len(times)), dtype=np.int64)
    return np.random.default_rng(seed).multinomial(pairs, times / pairs, size=resamples)


def drawn_units(units: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[NDArray[np.int64]]:
    """How often each unit is in a resample, shape [units], resample by resample."""
    generator = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(generator.integers(0, units, units, dtype=np.uint32), minlength=units)


def mean_kappas(
    couples: Couples, units: int, min_shared: int, *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[Weights, Floats]:
    """Mean pairwise kappa of every resample of the units, plain and quadratic, each of shape [resamples].

    The couples are those that share enough units in the data itself, in every resample the same. NaN where no kappa
    of a resample is defined.
    """
    found: dict[Weights, Floats] = {weights: np.full(resamples, np.nan) for weights in ("plain", "quadratic")}
    size = couples.grades**2
    enough = couples.tables().sum(axis=(1, 2)) >= min_shared
    asked = enough[couples.cell // size]
    if not asked.any():
        return found
    # In the order of the cells, a cell's count is the sum of one run.
    order = np.argsort(couples.cell[asked], kind="stable")
    unit, cell = couples.unit[asked][order], couples.cell[asked][order]
    cells, begins = np.unique(cell, return_index=True)
    place = (np.cumsum(enough) - 1)[cells // size] * size + cells % size
    draws = drawn_units(units, resamples=resamples, seed=seed)
    for begin in range(0, resamples, _AT_ONCE):
        tables = np.zeros((min(_AT_ONCE, resamples - begin), int(enough.sum()) * size), dtype=np.int64)
        for table, times in zip(tables, draws, strict=False):
            table[place] = np.add.reduceat(times[unit], begins)
        for weights, means in found.items():
            values = kappas(tables.reshape(len(tables), -1, couples.grades, couples.grades), weights)
            means[begin : begin + len(tables)] = _mean_of_defined(values)
    return found


def interval(samples: Floats, level: float = LEVEL) -> tuple[float, float] | None:
    """The middle `level` of the resamples in which a figure is defined; None where it is in none.

    >>> interval(np.array([np.nan]))
    """
    defined = samples[~np.isnan(samples)]
    if not defined.size:
        return None
    low, high = percentile_interval(defined, level)
    return float(low), float(high)


def _mean_of_defined(values: Floats) -> Floats:
    """Means of rows without their NaN; NaN of a row that has nothing else."""
    there = ~np.isnan(values)
    found = np.full(len(values), np.nan)
    np.divide(np.where(there, values, 0).sum(axis=1), there.sum(axis=1), out=found, where=there.any(axis=1))
    return found


def mean_samples(values: Floats, unit: Integers, *, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """The mean of the values in every resample of their units, shape [resamples]; NaN where a resample has none.

    Args:
        values: NaN where there is none, which counts nowhere.
        unit: that each value is of; those of one unit are drawn together.
        resamples: how many samples of the units are drawn.
        seed: of the generator.
    """
    there = ~np.isnan(values)
    if not there.any() or not resamples:
        return np.full(resamples, np.nan)
    _, code = np.unique(unit[there], return_inverse=True)
    # Units with the same sum of as many values are one kind; sums are of thirds and halves, so they repeat.
    sums = np.round(np.bincount(code, weights=values[there]), 9)
    kinds, times = np.unique(np.stack([sums, np.bincount(code)]), axis=1, return_counts=True)
    drawn = drawn_patterns(times, resamples=resamples, seed=seed)
    return np.asarray((drawn @ kinds[0]) / (drawn @ kinds[1]), dtype=np.float64)
