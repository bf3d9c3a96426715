"""Compute intervals of means, paired tests of differences, and groups of runs that do not differ significantly.

Every function works on arrays whose last axis is the queries. Random numbers come from a seed that the caller reports.
The random samples of queries and the random signs depend only on the seed and the number of queries. So a run's
interval does not depend on the other runs and measures that are compared.

Queries about one video or show are not independent. With `clusters`, whole clusters of queries are drawn and have their
signs flipped together.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.statistics.distributions import TIE, two_sided_p

RESAMPLES = 10_000
EXACT_QUERIES = 20
"""Up to this many queries, the sign-flip test enumerates all patterns of signs."""
_CELLS = 4_000_000
"""Number of random numbers drawn at once: 32 MB each for draws and weights."""
_IN_CACHE = 500_000
"""Number of random numbers counted at once. It is smaller, to fit the processor's cache, and changes no draw."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of run `first` minus run `second` over the queries, with its statistics.

    An undefined value is None, and `reason` says why. `difference` is the difference of the means, and `low` and
    `high` bound its bootstrap interval. `p` is the p-value of the sign-flip test (`exact` if all patterns were
    enumerated). `p_holm` is p adjusted for all comparisons of the table. `t` and `p_t` are the results of the paired
    t-test. `wins`, `ties` and `losses` count the queries on which `first` is better, equal or worse.
    """

    first: int
    second: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    exact: bool
    t: float | None
    p_t: float | None
    wins: int
    ties: int
    losses: int
    reason: str = ""


def bootstrap_means(
    values: Floats, *, resamples: int = RESAMPLES, seed: int = 0, clusters: Indices | None = None
) -> Floats:
    """Return the means of `resamples` samples of the queries, drawn with replacement: shape (resamples, ...).

    Each row of the result uses the same sample of queries for all runs and measures in `values`. So differences between
    the entries of a row are paired. Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 6
    and 13.

    With C clusters, a sample is C clusters drawn with replacement, each with all its queries. Its mean is over these
    queries, so samples differ in size. Source: Davison and Hinkley, Bootstrap Methods and their Application (1997),
    section 3.8.

    Args:
        values: shape (..., queries), at least one query.
        resamples: the number of samples.
        seed: the seed of the generator.
        clusters: the number of each query's cluster, 0..C-1, shape (queries,); None draws single queries.
    """
    queries = values.shape[-1]
    flat = values.reshape(-1, queries)
    centre = flat.mean(axis=1)
    deviations = (flat - centre[:, None]).T
    sizes = np.ones(queries)
    if clusters is not None:
        deviations, sizes = sums_of(deviations.T, clusters).T, np.bincount(clusters).astype(np.float64)
    units = len(sizes)
    generator = _generator(seed, 0)
    means = np.empty((resamples, len(flat)))
    for rows in _blocks(resamples, units):
        weights = np.empty((rows.stop - rows.start, units))
        for part in _blocks(len(weights), units, _IN_CACHE):
            drawn = generator.integers(0, units, (part.stop - part.start, units))
            drawn += np.arange(len(drawn))[:, None] * units
            weights[part] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        means[rows] = centre + weights @ deviations / (weights @ sizes)[:, None]
    return means.reshape(resamples, *values.shape[:-1])


def sums_of(values: Floats, clusters: Indices) -> Floats:
    """Return the sum of each cluster's values, shape (..., C), from values of shape (..., queries).

    >>> sums_of(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0])).tolist()
    [5.0, 2.0]
    """
    flat = values.reshape(-1, values.shape[-1])
    sums = np.stack([np.bincount(clusters, row) for row in flat]) if len(flat) else np.empty((0, clusters.max() + 1))
    return np.asarray(sums.reshape(*values.shape[:-1], -1), dtype=np.float64)


def percentile_interval(samples: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the central interval that holds the share `level` of the samples along the first axis, as (low, high).

    >>> low, high = percentile_interval(np.arange(101.0), 0.5)
    >>> float(low), float(high)
    (25.0, 75.0)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    return low, high


def sign_flip_p(differences: Floats, *, flips: int = RESAMPLES, seed: int = 0) -> Floats:
    """Return the two-sided p of the paired randomisation test, which flips the signs of differences at random.

    p is the share of patterns of signs with |sum of the signed differences| >= |observed sum|. Up to 20 queries, all
    2**queries patterns are enumerated. Beyond, p = (c + 1) / (flips + 1), where c counts the random patterns that reach
    the observed sum. Source: Smucker, Allan and Carterette, CIKM 2007; the 1 is from Davison and Hinkley (1997),
    chapter 4.

    Args:
        differences: shape (..., queries), at least one query.
        flips: number of random patterns, used where not all are enumerated.
        seed: the seed of the generator.

    Returns:
        p in (0, 1], shape (...).

    Of the four patterns for 1 and 2, two (+ + and - -) reach the observed 3:

    >>> float(sign_flip_p(np.array([1.0, 2.0])))
    0.5
    """
    queries = differences.shape[-1]
    flat = differences.reshape(-1, queries)
    total = flat.sum(axis=1)
    reached = np.abs(total) - TIE * queries
    count = np.zeros(len(flat), dtype=np.int64)
    if queries <= EXACT_QUERIES:
        for series, row in enumerate(flat):
            # A pattern and its opposite give the same |sum|, so the first sign can stay fixed.
            sums = row[:1]
            for difference in row[1:]:
                sums = np.concatenate((sums + difference, sums - difference))
            count[series] = np.count_nonzero(np.abs(sums) >= reached[series])
        p = count / 2 ** (queries - 1)
    else:
        generator = _generator(seed, 1)
        for rows in _blocks(flips, queries):
            flipped = generator.integers(0, 2, (rows.stop - rows.start, queries), dtype=np.int8)
            # A signed sum is the total minus twice the flipped differences, so zeros and ones suffice.
            count += (np.abs(total - 2.0 * (flipped.astype(np.float64) @ flat.T)) >= reached).sum(axis=0)
        p = (count + 1) / (flips + 1)
    return np.asarray(p, dtype=np.float64).reshape(differences.shape[:-1])


def paired_t(differences: Floats) -> tuple[Floats, Floats]:
    """Return Student's t of the paired differences, mean / (sd / sqrt(n)), and its two-sided p.

    The standard deviation sd divides by the degrees of freedom, n - 1. Both results have shape (...). They are NaN with
    fewer than two queries and where all differences are the same.

    >>> t, p = paired_t(np.array([1.0, 2.0, 3.0]))
    >>> round(float(t), 6), round(float(p), 6)
    (3.464102, 0.07418)
    """
    queries = differences.shape[-1]
    t = np.full(differences.shape[:-1], np.nan)
    if queries > 1:
        error = differences.std(axis=-1, ddof=1) / np.sqrt(queries)
        varies = np.ptp(differences, axis=-1) > TIE
        np.divide(differences.mean(axis=-1), error, out=t, where=varies)
    return t, two_sided_p(t, max(queries - 1, 1))


def holm(p: Floats) -> Floats:
    """Return the p-values of m comparisons after Holm's adjustment for multiple tests, shape (m,).

    For the i-th smallest p, the result is the maximum over j <= i of (m - j + 1) p_j, at most 1.
    Source: Holm, Scandinavian Journal of Statistics 6 (1979). NaN stays NaN and does not count as a comparison.

    >>> holm(np.array([0.04, 0.01, 0.02])).tolist()
    [0.04, 0.03, 0.04]
    """
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted


def compare(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
    means: Floats | None = None,
    clusters: Indices | None = None,
) -> list[list[Comparison]]:
    """Compare pairs of runs under every measure. Holm's adjustment is over the pairs of one measure.

    With clusters, the sign-flip test flips the signs of a cluster's differences together. The t-test, which takes
    queries as independent, is then left out.

    Args:
        values: shape (measures, runs, queries).
        pairs: the (first, second) numbers of runs, such as `[(0, b) for b in ...]` against a baseline.
        resamples: number of bootstrap samples, and of sign patterns beyond 20 queries.
        seed: the seed of both.
        level: the confidence level of the interval of the difference.
        means: the result of `bootstrap_means` for these values, resamples, seed and clusters, if the caller has it.
        clusters: the number of each query's cluster, 0..C-1, shape (queries,); None if queries are independent.

    Returns:
        A list for each measure, with a comparison for each of `pairs` in their order.
    """
    measures, _, queries = values.shape
    if not queries or not pairs:
        empty = [_nothing(first, second) for first, second in pairs]
        return [list(empty) for _ in range(measures)]
    first, second = np.array(pairs).T
    if means is None:
        means = bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters)
    units = queries if clusters is None else int(clusters.max()) + 1
    result = []
    # Take several measures at once: fewer draws of signs, and fewer but larger matrix products.
    for block in _blocks(measures, len(pairs) * queries):
        differences = values[block][:, first] - values[block][:, second]
        p = sign_flip_p(differences if clusters is None else sums_of(differences, clusters), flips=resamples, seed=seed)
        t, p_t = paired_t(differences)
        for n, measure in enumerate(range(block.start, block.stop)):
            samples = means[:, measure, first] - means[:, measure, second]
            columns = {
                "difference": differences[n].mean(axis=1),
                "low": np.empty(0),
                "high": np.empty(0),
                "p": p[n],
                "p_holm": holm(p[n]),
                "t": t[n],
                "p_t": p_t[n],
                "wins": (differences[n] > TIE).sum(axis=1),
                "ties": (np.abs(differences[n]) <= TIE).sum(axis=1),
                "losses": (differences[n] < -TIE).sum(axis=1),
            }
            columns["low"], columns["high"] = percentile_interval(samples, level)
            compared = [_comparison(pair, i, columns, queries) for i, pair in enumerate(pairs)]
            if clusters is not None:
                why = "no t-test: it takes queries as independent"
                compared = [
                    replace(one, t=None, p_t=None, exact=units <= EXACT_QUERIES, reason=why) for one in compared
                ]
            result.append(compared)
    return result


def indistinct_groups(runs: int, apart: Collection[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return the largest groups of runs in which no two differ significantly. A run may be in several groups.

    Source: the insert-and-absorb algorithm of Piepho, Journal of Computational and Graphical Statistics 13 (2004). It
    begins with one group of all runs. Each pair that differs splits the groups that hold both. Groups within other
    groups are dropped.

    Args:
        runs: the number of runs, which are numbered from 0.
        apart: the pairs of runs that differ significantly, such as those with `p_holm` below 0.05.

    >>> indistinct_groups(3, [(0, 2)])
    [(0, 1), (1, 2)]
    """
    groups = [frozenset(range(runs))] if runs else []
    for a, b in apart:
        split = []
        for group in groups:
            split += [group - {a}, group - {b}] if {a, b} <= group else [group]
        groups = [group for group in set(split) if not any(group < other for other in split)]
    return sorted(tuple(sorted(group)) for group in groups)


def _generator(seed: int, purpose: int) -> np.random.Generator:
    """Return a random generator for one purpose: bootstrap (0) or sign flips (1).

    Generators of the same seed for different purposes are independent.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def _blocks(total: int, width: int, cells: int = _CELLS) -> Iterator[slice]:
    """Yield slices that divide `total` rows into blocks of at most `cells` values, to limit memory.

    A row has `width` values. A slice has at least one row.
    """
    step = max(1, cells // width)
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))


def _nothing(first: int, second: int) -> Comparison:
    none = {name: None for name in ("difference", "low", "high", "p", "p_holm", "t", "p_t")}
    return Comparison(first, second, **none, exact=True, wins=0, ties=0, losses=0, reason="no query counts")


def _comparison(pair: tuple[int, int], index: int, columns: dict[str, NDArray[Any]], queries: int) -> Comparison:
    values: dict[str, Any] = {name: column[index].item() for name, column in columns.items()}
    comparison = Comparison(*pair, **values, exact=queries <= EXACT_QUERIES)
    if not np.isnan(values["t"]):
        return comparison
    cause = "all queries differ by the same amount" if queries > 1 else "there is only one query"
    return replace(comparison, t=None, p_t=None, reason=f"no t-test: {cause}")
