"""Add statistics to a scoreboard: intervals, comparisons with a baseline, groups of runs that do not differ.

Reads and writes nothing. `resampling` computes the statistics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypedDict

import numpy as np

from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.timespan import Floats
from backend.scoring.breakdown import AnyGroups, Breakdown
from backend.scoring.matching.columns import Indices
from backend.scoring.scoreboard import Scoreboard, ScoredRun
from backend.scoring.statistics.resampling import (
    RESAMPLES,
    Comparison,
    bootstrap_means,
    compare,
    indistinct_groups,
    percentile_interval,
)

APART = 0.05
"""Runs with a Holm-adjusted p below this differ significantly."""
_FIELDS = ("difference", "low", "high", "p", "p_holm", "p_t", "wins", "ties", "losses")
_LONG_NAMES = {"low": "difference_low", "high": "difference_high"}


@dataclass(frozen=True, slots=True)
class Sureness:
    """The options of the statistics: which runs to compare, and how to draw random samples of queries.

    `baseline` is the run with which the others are compared, if any; with `pairs="all"`, every two runs are compared.
    `resamples` is the number of samples, and `seed` the seed of the random generator. `clusters` is a property, such as
    `video`, whose groups of queries are drawn as a whole; None draws single queries.
    """

    baseline: str | None = None
    resamples: int = RESAMPLES
    seed: int = 0
    pairs: Literal["all"] | None = None
    clusters: AnyGroups | None = None


def check(board: Scoreboard, asked: Sureness) -> None:
    """Check the options of the statistics against the runs of the scoreboard.

    Raises:
        InputError: the baseline is not one of the runs, there are too few resamples, the seed is negative, or `pairs`
            is neither `all` nor None.
    """
    names = [run.name for run in board.runs]
    if asked.baseline is not None and asked.baseline not in names:
        raise InputError.single("baseline", f"{asked.baseline!r} is not one of {', '.join(names)}")
    if asked.resamples < 1:
        raise InputError.single("resamples", f"{asked.resamples} is not at least 1")
    if asked.seed < 0:
        raise InputError.single("seed", f"{asked.seed} is below 0")
    if asked.pairs not in ("all", None):
        raise InputError.single("pairs", f"{asked.pairs!r} is not 'all' or None")


def add_statistics(
    summary: dict[str, Any],
    board: Scoreboard,
    asked: Sureness,
    *,
    by: Sequence[Breakdown] = (),
    progress: Progress | None = None,
) -> None:
    """Add statistics to a scoreboard's summary, as `asked` chooses them: intervals, comparisons and groups of runs.

    Every run gets `intervals` (`{measure: {"low", "high"}}`): 95 % percentile bootstrap intervals over the queries that
    count for it. The groups of queries in `by`, which the summary must have, get `intervals` too.

    With a baseline, every other run gets `comparison` (`{measure: {"difference", ...}}`): the run minus the baseline,
    over the queries that count for all runs. Holm's adjustment is over the comparisons of a measure. With `pairs="all"`
    the summary gets `pairs`, with `{"first", "second", "comparison"}` for every two runs. Holm's adjustment is then
    over all pairs.

    The summary gets `baseline` (the name) and `statistics`: the level, resamples, seed and number of queries compared,
    and `groups`. A group has runs that do not differ significantly by the summary's main measure (`focus`), adjusted by
    Holm over all pairs.

    Raises:
        InputError: the baseline is not one of the runs, there are too few resamples, the seed is negative, `pairs` is
            neither `all` nor None, or all queries are in one cluster.
    """
    check(board, asked)
    keys = list(board.settings.keys)
    shared, values = board.shared_of(keys)  # queries that count for all runs
    queries = len(shared)
    cluster = None if asked.clusters is None else board.breakdown(asked.clusters, option="clusters")
    draws = _Draws(asked.resamples, asked.seed, None if cluster is None else cluster.clusters())
    options = draws.options(shared)
    steps = iter(range(1, 4))

    def advance() -> None:
        if progress:
            progress("resampling queries", next(steps), 3)

    same_queries = all(len(run.query) == queries for run in board.runs)
    # Intervals, comparisons and groups share the resamples, because drawing these takes longest.
    means = bootstrap_means(values, **options) if queries else values
    if queries:
        bounds = percentile_interval(means) if same_queries else None
        for number, (run, entry) in enumerate(zip(board.runs, summary["runs"], strict=True)):
            if bounds is not None:
                entry["intervals"] = _bounds(keys, *(side[:, number] for side in bounds))
            elif run.values.shape[1]:
                entry["intervals"] = draws.intervals(keys, run, np.arange(len(run.query)))
            for part in by:
                group = part.group[run.query]
                for of_group, name in enumerate(part.names):
                    chosen = np.flatnonzero(group == of_group)
                    if draws.units(run.query[chosen]) > 1:
                        entry["by"][part.by]["groups"][name]["intervals"] = draws.intervals(keys, run, chosen)
    advance()
    names = [run.name for run in board.runs]
    if asked.baseline is not None and queries:
        base = names.index(asked.baseline)
        others = [number for number in range(len(names)) if number != base]
        comparisons = compare(values, [(other, base) for other in others], means=means, **options)
        for place, other in enumerate(others):
            summary["runs"][other]["comparison"] = _of_pair(keys, comparisons, place)
    if asked.pairs and queries:
        pairs = list(combinations(range(len(names)), 2))
        comparisons = compare(values, pairs, means=means, **options)
        summary["pairs"] = [
            {"first": names[first], "second": names[second], "comparison": _of_pair(keys, comparisons, place)}
            for place, (first, second) in enumerate(pairs)
        ]
    advance()
    summary["baseline"] = asked.baseline
    summary["statistics"] = {
        "level": 0.95,
        "resamples": asked.resamples,
        "seed": asked.seed,
        "queries": queries,
        "groups": _groups(board, values, means, options) if queries else [],
    }
    if cluster is not None:
        summary["statistics"]["clusters"] = {"by": cluster.by, "count": draws.units(shared)}
    summary["statistics"]["notes"] = _notes(summary, board)
    advance()


class _Options(TypedDict):
    """How samples of queries are drawn; see `bootstrap_means`."""

    resamples: int
    seed: int
    clusters: Indices | None


@dataclass(frozen=True, slots=True)
class _Draws:
    """How samples of queries are drawn. `cluster` has the cluster of each query of the truth, if there are any."""

    resamples: int
    seed: int
    cluster: Indices | None

    def options(self, query: Indices) -> _Options:
        """Return the arguments of `bootstrap_means` for values at these queries, indices in the truth."""
        own = None
        if self.cluster is not None:
            own = np.unique(self.cluster[query], return_inverse=True)[1].astype(np.int64)
        return {"resamples": self.resamples, "seed": self.seed, "clusters": own}

    def units(self, query: Indices) -> int:
        """Return the number of clusters that some queries are in or, without clusters, the number of these queries.

        `query` has the indices of the queries in the truth.
        """
        return len(query) if self.cluster is None else len(np.unique(self.cluster[query]))

    def intervals(self, keys: Sequence[str], run: ScoredRun, chosen: Indices) -> dict[str, dict[str, float]]:
        """Return the intervals of a run's means over some queries, for each key such as `ndcg@20,0.5`.

        `chosen` has the positions of the queries in `run.query`.
        """
        chosen = chosen[np.argsort(run.query[chosen])]
        samples = bootstrap_means(run.values[:, chosen], **self.options(run.query[chosen]))
        return _bounds(keys, *percentile_interval(samples))


def _bounds(keys: Sequence[str], low: Floats, high: Floats) -> dict[str, dict[str, float]]:
    return {key: {"low": float(low[n]), "high": float(high[n])} for n, key in enumerate(keys)}


def _of_pair(keys: Sequence[str], comparisons: Sequence[Sequence[Comparison]], place: int) -> dict[str, Any]:
    return {key: _comparison_fields(comparisons[n][place]) for n, key in enumerate(keys)}


def _groups(board: Scoreboard, all_values: Floats, all_means: Floats, options: _Options) -> list[list[str]]:
    """Return the largest groups of runs that do not differ significantly, each with the best run first.

    They are compared by the main measure of the scoreboard (`focus`).
    """
    row = board.settings.keys.index(board.focus)
    values = all_values[row]
    order = np.argsort(-values.mean(axis=1), kind="stable")
    pairs = list(combinations(range(len(order)), 2))
    if not pairs:
        return []
    comparisons = compare(values[order][None], pairs, means=all_means[:, row, order][:, None], **options)[0]
    apart = [
        pair
        for pair, comparison in zip(pairs, comparisons, strict=True)
        if comparison.p_holm is not None and comparison.p_holm < APART
    ]
    names = [board.runs[number].name for number in order]
    return [[names[i] for i in group] for group in indistinct_groups(len(names), apart)]


def _comparison_fields(comparison: Comparison) -> dict[str, float | int | None]:
    return {_LONG_NAMES.get(name, name): getattr(comparison, name) for name in _FIELDS}


def _notes(summary: dict[str, Any], board: Scoreboard) -> list[str]:
    """Return sentences that explain the statistics, with everything needed to compute them again."""
    facts = summary["statistics"]
    notes = [
        said(
            "Intervals: 95 %, percentile bootstrap over queries, {resamples:,} resamples, seed {seed}.",
            resamples=facts["resamples"],
            seed=facts["seed"],
        )
    ]
    if summary["baseline"] is not None:
        notes.append(
            said(
                "Differences: run minus {baseline}, paired over the {queries:,} queries that count for every "
                "run. p by sign-flip randomisation ({resamples:,} flips; all, up to 20 queries), adjusted by "
                "Holm over the comparisons of a measure. The paired t-test beside it is not adjusted.",
                baseline=summary["baseline"],
                queries=facts["queries"],
                resamples=facts["resamples"],
            )
        )
    if "pairs" in summary:
        notes.append(
            said(
                "Pairs: first run minus second, p by sign-flip randomisation, adjusted by Holm over the {n} pairs of a "
                "measure.",
                n=len(summary["pairs"]),
            )
        )
    if clusters := facts.get("clusters"):
        notes.append(
            said(
                "Queries were drawn, and their signs flipped, in {count:,} whole clusters by {by}. The t-test, which "
                "takes queries as independent, was left out.",
                count=clusters["count"],
                by=clusters["by"],
            )
        )
    groups = [", ".join(group) for group in facts["groups"] if len(group) > 1]
    if groups:
        notes.append(
            said(
                "No significant difference in {measure} (Holm over all pairs, p < {apart}): {runs}.",
                measure=board.focus,
                apart=APART,
                runs="; ".join(groups),
            )
        )
    elif len(board.runs) > 1:
        notes.append(
            said(
                "All runs differ significantly in {measure} (Holm over all pairs, p < {apart}).",
                measure=board.focus,
                apart=APART,
            )
        )
    return notes
