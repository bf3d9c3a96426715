"""Measure stability: how well a measure agrees with itself about the order of systems on different sets of queries.

For growing n, draw two sets of n queries, rank the systems on each by their means, and take Kendall's tau-b of the
two rankings. Report its mean and variance over many trials. Source: AxIoU (Togashi et al., CVPR 2022), section 6.3 and
Figure 6. The two sets are disjoint while 2n does not exceed the number of queries. Beyond that, or on request, they
are drawn independently of each other (each without replacement). The text of the paper compares two sets; its authors'
code compares one with all queries (`whole`).

Further studies come from the same paper: the agreement of every two measures (section 6.2, Figure 4), the queries on
which a measure ties all systems (supplement, appendix B, Figure 1), and the models that a measure would select (section
6.6, Figure 8).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from backend.core.parallel import run_units
from backend.core.progress import Steps
from backend.core.timespan import Floats
from backend.core.where import HERE, Where
from backend.scoring.statistics.distributions import TIE, pair_signs, tau_b
from backend.scoring.studies.study import Cell, SystemValues, chunks, generator_of


def agreement(table: SystemValues) -> list[dict[str, Cell]]:
    """Compute tau-b between the orders of systems under every two measures: one row for each ordered pair."""
    means = table.means
    matrix = tau_b(means[:, None], means[None])
    tied = np.all(pair_signs(means) == 0, axis=1)
    rows: list[dict[str, Cell]] = []
    for i, first in enumerate(table.measures):
        for j, second in enumerate(table.measures):
            reason = " and ".join(f"{table.measures[n]} ties all systems" for n in sorted({i, j}) if tied[n])
            value = None if reason else float(matrix[i, j])
            rows.append({"first": first, "second": second, "tau_b": value, "reason": reason})
    return rows


SubsetPairs = Literal["disjoint", "independent", "whole"]
TRIALS = 5_000
_CELLS = 500_000
"""Trials x queries of one unit of work."""


@dataclass(frozen=True, slots=True)
class Trials:
    """One job for a worker process: `count` times, draw two sets of `size` queries and compare the orders of systems.

    `seed`, `size` and `number` determine its random numbers. `pairs` says how the second set is drawn.
    """

    seed: int
    size: int
    number: int
    count: int
    pairs: SubsetPairs


def default_sizes(queries: int) -> list[int]:
    """Return six sizes from 10 to half the queries, growing by about the same factor; fewer where sizes coincide.

    >>> default_sizes(500)
    [10, 19, 36, 69, 131, 250]
    >>> default_sizes(4)
    [1, 2]
    """
    half = max(1, queries // 2)
    start = 10 if half >= 20 else 1
    return sorted({int(size) for size in np.rint(np.geomspace(start, half, 6))})


def stability(
    table: SystemValues,
    sizes: Sequence[int],
    *,
    trials: int = TRIALS,
    subset_pairs: SubsetPairs = "disjoint",
    seed: int = 0,
    where: Where = HERE,
    progress: Steps | None = None,
) -> list[dict[str, Cell]]:
    """Compute how well a measure ranks the systems alike on two random sets of queries: tau-b over many pairs of sets.

    Return one row for each measure and size of the sets, with the mean and variance (ddof 0) of Kendall's tau-b. A
    trial compares one pair of sets. If a measure ties all systems on a set, the trial has no tau-b; `undefined` counts
    such trials.

    Args:
        table: the values of every system and query.
        sizes: the numbers of queries in a set.
        trials: the number of trials for each size.
        subset_pairs: whether the two sets share no query (`disjoint`, if there are enough queries), are
            `independent`, or the second set is all queries (`whole`).
        seed: the seed of the random generator.
        where: where the trials are computed, for example in several processes.
        progress: called after each job with the number of finished jobs and their total.
    """
    queries = table.values.shape[2]
    step = max(1, _CELLS // queries)
    units = [
        Trials(seed, size, number, count, "independent" if _too_few(subset_pairs, size, queries) else subset_pairs)
        for size in sizes
        for number, count in enumerate(chunks(trials, step))
    ]
    results = run_units(self_agreement, table.values, units, where, progress=progress)
    rows: list[dict[str, Cell]] = []
    for size in sizes:
        positions = [n for n, unit in enumerate(units) if unit.size == size]
        taus = np.hstack([results[n] for n in positions])
        for measure, tau in zip(table.measures, taus, strict=True):
            defined = tau[~np.isnan(tau)]
            rows.append(
                {
                    "measure": measure,
                    "size": size,
                    "subset_pairs": units[positions[0]].pairs,
                    "trials": trials,
                    "undefined": len(tau) - len(defined),
                    "mean": float(defined.mean()) if len(defined) else None,
                    "variance": float(defined.var()) if len(defined) else None,
                    "reason": "" if len(defined) else "every trial ties all systems",
                }
            )
    return rows


def _too_few(subset_pairs: SubsetPairs, size: int, queries: int) -> bool:
    """Return whether there are too few queries for two disjoint sets of `size`, if these are wanted."""
    return subset_pairs == "disjoint" and 2 * size > queries


def self_agreement(values: Floats, trials: Trials) -> Floats:
    """Compute Kendall's tau-b between the orders of systems on two random sets of queries, for many pairs of sets.

    `trials` says how many and how large. `values` are those of `SystemValues`. The result has shape (measures, trials),
    NaN where undefined.
    """
    measures, systems, queries = values.shape
    generator = generator_of(trials.seed, trials.size, trials.number)
    numbers = np.tile(np.arange(queries), (trials.count, 1))
    shuffled = generator.permuted(numbers, axis=1)
    first = shuffled[:, : trials.size]
    if trials.pairs == "disjoint":
        second = shuffled[:, trials.size : 2 * trials.size]
    elif trials.pairs == "whole":
        second = numbers
    else:
        second = generator.permuted(numbers, axis=1)[:, : trials.size]
    columns = values.reshape(-1, queries).T
    means = []
    for chosen in (first, second):
        member = np.zeros((trials.count, queries))
        np.put_along_axis(member, chosen, 1.0, axis=1)
        means.append((member @ columns / chosen.shape[1]).reshape(trials.count, measures, systems))
    return tau_b(*means).T


Over = Literal["selected", "candidates"]


def all_tied(values: Floats) -> Floats:
    """Return the share of queries, in [0, 1], on which all systems have the same value.

    `values` has shape (..., systems, queries), the result has shape (...).

    Two systems, two queries; the second query ties them:

    >>> float(all_tied(np.array([[0.5, 1.0], [0.25, 1.0]])))
    0.5
    """
    return np.asarray((np.ptp(values, axis=-2) <= TIE).mean(axis=-1), dtype=np.float64)


def tied_queries(table: SystemValues) -> list[dict[str, Cell]]:
    """Return the share of queries on which a measure ties all systems: one row for each measure."""
    queries = table.values.shape[2]
    return [
        {"measure": measure, "queries": queries, "all_tied": round(float(ratio) * queries), "ratio": float(ratio)}
        for measure, ratio in zip(table.measures, all_tied(table.values), strict=True)
    ]


def z_scores(scores: Floats) -> Floats:
    """Return (score - mean) / standard deviation (ddof 0) along the last axis; 0 where all scores are the same.

    >>> z_scores(np.array([1.0, 2.0, 3.0, 2.0])).round(3).tolist()
    [-1.414, 0.0, 1.414, 0.0]
    """
    deviation = scores - scores.mean(axis=-1, keepdims=True)
    varies = np.ptp(scores, axis=-1, keepdims=True) > TIE
    result = np.zeros(scores.shape)
    np.divide(deviation, scores.std(axis=-1, keepdims=True), out=result, where=varies)
    return result


def selected(scores: Floats) -> list[int]:
    """Return the indices of the systems with the highest score, several if they tie; `scores` has shape (systems,)."""
    return [int(n) for n in np.flatnonzero(scores >= scores.max() - TIE)]


def model_selection(validation: SystemValues, test: SystemValues, over: Over = "selected") -> list[dict[str, Cell]]:
    """Compute how good the models are that each measure selects: selection on validation, z-scores on test queries.

    The result has a row for each pair of a validation measure and a test measure. If several models tie for the best on
    validation, the measure gets the mean of their scores.

    A z-score is a score minus a mean, divided by a standard deviation. With `over="selected"`, as in the paper, these
    two are taken over the models that the measures select. A model counts once for every measure that selects it, so
    the z-scores of one test measure sum to 0. With `over="candidates"`, they are taken over all models, each counted
    once.

    Args:
        validation: the models' values on validation queries.
        test: values of the same models on test queries, under the same or other measures.
        over: the models whose mean and standard deviation turn a score into a z-score.
    """
    best = [selected(scores) for scores in validation.means]
    if over == "selected":
        z_values = z_scores(np.array([test.means[:, chosen].mean(axis=1) for chosen in best]).T).T
    else:
        z = z_scores(test.means)
        z_values = np.array([z[:, chosen].mean(axis=1) for chosen in best])
    rows: list[dict[str, Cell]] = []
    for choosing, chosen, values in zip(validation.measures, best, z_values, strict=True):
        names = "; ".join(validation.systems[n] for n in chosen)
        for judging, value in zip(test.measures, values, strict=True):
            rows.append({"validation_measure": choosing, "selected": names, "test_measure": judging, "z": float(value)})
    return rows
