"""How sure a leaderboard is: intervals of means, paired tests of differences, groups that cannot be told apart.

Everything is a function of `values`, whose last axis is the queries. Randomness comes from a seed that the
caller shows. Resamples and signs depend on the seed and the number of queries alone: a run's interval is the
same whichever other runs and measures stand in the table.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.core.timespan import Floats
from backend.scoring.statistics.distributions import TIE, two_sided_p

RESAMPLES = 10_000
EXACT_QUERIES = 20
"""Up to this many queries all patterns of signs are looked at."""
_CELLS = 4_000_000
"""Random numbers drawn at once: 32 MB each of draws and weights."""
_IN_CACHE = 500_000
"""The same where they are counted, which is faster near the processor; how many are drawn at once changes no draw."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run `first` minus run `second`, query by query. A value that is undefined is None, and `reason` says why.

    `difference` is that of the means, `low` and `high` its bootstrap interval; `p` is of the sign-flip test
    (`exact` where all patterns were looked at), `p_holm` the same adjusted to all comparisons of the table; `t`
    and `p_t` are of the paired t-test; `wins`, `ties`, `losses` count queries from the side of `first`.
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


def bootstrap_means(values: Floats, *, resamples: int = RESAMPLES, seed: int = 0) -> Floats:
    """Means of `resamples` samples of the queries, drawn with replacement: shape (resamples, ...).

    Every row uses one sample for all series, so differences of its entries are paired, as they should be.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13.

    Args:
        values: shape (..., queries), at least one query.
        resamples: how many samples.
        seed: of the generator.
    """
    queries = values.shape[-1]
    flat = values.reshape(-1, queries)
    centre = flat.mean(axis=1)
    deviations = (flat - centre[:, None]).T
    generator = _generator(seed, 0)
    means = np.empty((resamples, len(flat)))
    for rows in _blocks(resamples, queries):
        weights = np.empty((rows.stop - rows.start, queries))
        for part in _blocks(len(weights), queries, _IN_CACHE):
            drawn = generator.integers(0, queries, (part.stop - part.start, queries))
            drawn += np.arange(len(drawn))[:, None] * queries
            weights[part] = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape)
        means[rows] = centre + weights @ deviations / queries
    return means.reshape(resamples, *values.shape[:-1])


def percentile_interval(samples: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """The middle `level` of the samples along their first axis, as (low, high).

    >>> low, high = percentile_interval(np.arange(101.0), 0.5)
    >>> float(low), float(high)
    (25.0, 75.0)
    """
    tail = (1 - level) / 2
    low, high = np.quantile(samples, [tail, 1 - tail], axis=0)
    return low, high


def sign_flip_p(differences: Floats, *, flips: int = RESAMPLES, seed: int = 0) -> Floats:
    """Two-sided p of the paired randomisation test: how often |sum of randomly signed differences| >= |their sum|.

    Up to 20 queries all 2**queries patterns of signs are enumerated and p is their share; beyond,
    p = (c + 1) / (flips + 1) with c the random patterns that reach the observed sum. Source: Smucker, Allan and
    Carterette, CIKM 2007; the 1 is from Davison and Hinkley (1997), chapter 4.

    Args:
        differences: shape (..., queries), at least one query.
        flips: random patterns, where not all are enumerated.
        seed: of the generator.

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
            # A pattern and its opposite reach the same sum: the first sign may stay as it is.
            sums = row[:1]
            for difference in row[1:]:
                sums = np.concatenate((sums + difference, sums - difference))
            count[series] = np.count_nonzero(np.abs(sums) >= reached[series])
        p = count / 2 ** (queries - 1)
    else:
        generator = _generator(seed, 1)
        for rows in _blocks(flips, queries):
            turned = generator.integers(0, 2, (rows.stop - rows.start, queries), dtype=np.int8)
            # The sum under a pattern of signs is the whole less twice what is turned round: zeros and ones suffice.
            count += (np.abs(total - 2.0 * (turned.astype(np.float64) @ flat.T)) >= reached).sum(axis=0)
        p = (count + 1) / (flips + 1)
    return np.asarray(p, dtype=np.float64).reshape(differences.shape[:-1])


def paired_t(differences: Floats) -> tuple[Floats, Floats]:
    """Student's t of the paired differences, mean / (sd / sqrt(n)), and its two-sided p.

    The standard deviation sd divides by n - 1, the degrees of freedom. Both results have shape (...), NaN with
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
    """Holm's adjusted p of m comparisons, shape (m,): for the i-th smallest, max over j <= i of (m - j + 1) p_j, <= 1.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979). NaN stays NaN and is no comparison.

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
) -> list[list[Comparison]]:
    """Compare pairs of runs under every measure; Holm's adjustment is over the pairs of one measure.

    Args:
        values: shape (measures, runs, queries).
        pairs: (first, second) numbers of runs, such as `[(0, b) for b in ...]` against a baseline.
        resamples: bootstrap samples, and sign patterns beyond 20 queries.
        seed: of both.
        level: of the interval of the difference.
        means: what `bootstrap_means` gives for these values, resamples and seed, where the caller has it already.

    Returns:
        For each measure its comparisons, in the order of `pairs`.
    """
    measures, _, queries = values.shape
    if not queries or not pairs:
        empty = [_nothing(first, second) for first, second in pairs]
        return [list(empty) for _ in range(measures)]
    first, second = np.array(pairs).T
    if means is None:
        means = bootstrap_means(values, resamples=resamples, seed=seed)
    result = []
    # Several measures at once, so that the signs are drawn for few products of large matrices.
    for block in _blocks(measures, len(pairs) * queries):
        differences = values[block][:, first] - values[block][:, second]
        p = sign_flip_p(differences, flips=resamples, seed=seed)
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
            result.append([_comparison(pair, i, columns, queries) for i, pair in enumerate(pairs)])
    return result


def indistinct_groups(runs: int, apart: Collection[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The largest groups of runs of which no two are told apart; a run may be in several.

    Source: the insert-and-absorb algorithm of Piepho, Journal of Computational and Graphical Statistics 13
    (2004): begin with one group of all; each pair told apart splits the groups that hold both; groups within
    others are dropped.

    Args:
        runs: how many there are, numbered from 0.
        apart: pairs of runs told apart, such as those with `p_holm` below 0.05.

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
    """Bootstrap (0) and sign flips (1) of one seed are independent of each other."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def _blocks(total: int, width: int, cells: int = _CELLS) -> Iterator[slice]:
    """Slices of rows with `width` cells each that are small enough for memory."""
    step = max(1, cells // width)
    for start in range(0, total, step):
        yield slice(start, min(start + step, total))


def _nothing(first: int, second: int) -> Comparison:
    none = {name: None for name in ("difference", "low", "high", "p", "p_holm", "t", "p_t")}
    return Comparison(first, second, **none, exact=True, wins=0, ties=0, losses=0, reason="no query counts")


def _comparison(pair: tuple[int, int], at: int, columns: dict[str, NDArray[Any]], queries: int) -> Comparison:
    found: dict[str, Any] = {name: column[at].item() for name, column in columns.items()}
    comparison = Comparison(*pair, **found, exact=queries <= EXACT_QUERIES)
    if not np.isnan(found["t"]):
        return comparison
    why = "all queries differ by the same amount" if queries > 1 else "there is only one query"
    return replace(comparison, t=None, p_t=None, reason=f"no t-test: {why}")
