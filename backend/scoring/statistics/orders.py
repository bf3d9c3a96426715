"""Compare the orders in which two truths put the same systems: Kendall's tau-b, and the largest swap of two systems."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.statistics.bootstrap import interval
from backend.scoring.statistics.distributions import TIE, tau_b
from backend.scoring.statistics.resampling import RESAMPLES, bootstrap_means, percentile_interval


@dataclass(frozen=True, slots=True)
class Swap:
    """Two systems that two truths put in opposite orders.

    By the first truth, `ahead` is better than `behind` by `by_first`, which is above 0. By the second truth it is
    worse: `by_second` is below 0. Both are differences of means. `low` and `high` are the ends of the 95 % interval of
    `by_first`. If it does not contain 0, the first truth can tell these systems apart.
    """

    ahead: str
    behind: str
    by_first: float
    by_second: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OrderChange:
    """How one measure orders the systems by two truths.

    `key` is the measure, such as `ndcg@20,0.5`. `tau` is Kendall's tau-b of the two orders, from -1 (reversed) to 1
    (the same), with its 95 % interval from `low` to `high`. All three are None if a truth ties all systems. `swap` has
    the two systems in opposite orders that are furthest apart by the first truth; None if no two are.
    """

    key: str
    tau: float | None
    low: float | None
    high: float | None
    swap: Swap | None


def rank_changes(
    first: Scoreboard, second: Scoreboard, *, resamples: int = RESAMPLES, seed: int = 0
) -> list[OrderChange]:
    """Return for every measure how the order of systems changes from the first scoreboard to the second.

    Both boards must have the same runs and measures. Upper bounds are left out, because they are never ranked.
    Intervals are percentile intervals of a bootstrap over the queries of both truths. Each sample of queries gives both
    orders. A query that counts for one truth only, such as one without a relevant moment in the other, counts there
    alone.
    """
    names, queries = _ranked(first), _queries_of(first, second)
    samples = [_sampled_means(board, names, queries, resamples, seed) for board in (first, second)]
    changes = []
    for row, key in enumerate(first.settings.keys):
        by_first, by_second = (_means(board, names, key) for board in (first, second))
        tau = float(tau_b(by_first, by_second))
        of_first, of_second = (means[:, row] for means in samples)
        bounds = None if np.isnan(tau) else interval(tau_b(of_first, of_second))
        low, high = bounds or (None, None)
        swap = _largest_swap(names, by_first, by_second, of_first)
        changes.append(OrderChange(key, None if np.isnan(tau) else tau, low, high, swap))
    return changes


def taus(first: Scoreboard, second: Scoreboard) -> Floats:
    """Return Kendall's tau-b between the orders of systems by two truths for every measure, NaN where one ties all.

    Both boards must have the same runs and measures. Upper bounds are left out. The result has shape (measures,).
    """
    names, keys = _ranked(first), first.settings.keys
    both = [np.array([_means(board, names, key) for key in keys]) for board in (first, second)]
    return tau_b(*both)


def _ranked(board: Scoreboard) -> list[str]:
    return sorted(run.name for run in board.runs if not run.upper_bound)


def _queries_of(*boards: Scoreboard) -> dict[str, int]:
    """Map each query id of the boards to its number in the bootstrap."""
    ids = dict.fromkeys(str(query) for board in boards for query in board.queries)
    return {query: number for number, query in enumerate(ids)}


def _means(board: Scoreboard, names: list[str], key: str) -> Floats:
    """Return the means that the leaderboard shows, shape (runs,); 0 where no query of a run counts."""
    means = {run.name: run.means for run in board.runs}
    return np.array([means[name].get(key, 0.0) for name in names])


def _sampled_means(board: Scoreboard, names: list[str], queries: dict[str, int], resamples: int, seed: int) -> Floats:
    """Return the means of runs in samples of queries, shape (resamples, measures, runs).

    The mean is 0 in a sample without a query that counts for the run, as in the leaderboard.
    """
    place = np.array([queries[str(query)] for query in board.queries], dtype=np.int64)
    run_of = {run.name: run for run in board.runs}
    means = np.empty((resamples, len(board.settings.keys), len(names)))
    for number, name in enumerate(names):
        run = run_of[name]
        rows = np.zeros((len(board.settings.keys) + 1, len(queries)))
        rows[:-1, place[run.query]] = run.values
        rows[-1, place[run.query]] = 1  # whether the query counts
        sampled = bootstrap_means(rows, resamples=resamples, seed=seed)
        counted = sampled[:, -1:]
        means[:, :, number] = np.divide(sampled[:, :-1], counted, out=np.zeros_like(sampled[:, :-1]), where=counted > 0)
    return means


def _largest_swap(names: list[str], by_first: Floats, by_second: Floats, of_first: Floats) -> Swap | None:
    swaps = []
    for one, other in combinations(range(len(names)), 2):
        ahead, behind = (one, other) if by_first[one] >= by_first[other] else (other, one)
        gain, loss = by_first[ahead] - by_first[behind], by_second[ahead] - by_second[behind]
        if gain > TIE and loss < -TIE:
            swaps.append((float(gain), float(loss), ahead, behind))
    if not swaps:
        return None
    gain, loss, ahead, behind = max(swaps, key=lambda swap: swap[0])
    low, high = percentile_interval(of_first[:, ahead] - of_first[:, behind])
    return Swap(names[ahead], names[behind], gain, loss, float(low), float(high))
