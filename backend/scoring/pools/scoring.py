"""Score runs in pools: each query is searched only in the videos of its pool.

The truth is given by the caller, or it consists of the moments that the file of pools lists as matches.

Reads and writes nothing; `scored_files` handles the files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.progress import Progress
from backend.core.timespan import Flags
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.pools.model import TOP_VIDEOS, PoolConventions, Pools
from backend.scoring.pools.overconfidence import overconfidence
from backend.scoring.pools.places import NO_POOL, OUTSIDE, Places, first_at, places_of, truth_of
from backend.scoring.presets import Settings
from backend.scoring.scoreboard import Scoreboard, Setting, score_runs


@dataclass(frozen=True, slots=True)
class InPools:
    """Selects the predictions of a run that count: those in the pool of videos of their query.

    In a two-step retrieval, another run first chooses videos from each pool. `chosen`, shape (P,), then marks the
    chosen ones among all P pairs of a query and a video of its pool. It is None if there is no such run.
    """

    places: Places
    pooling: PoolConventions
    chosen: Flags | None = None

    @property
    def sorts(self) -> bool:
        """Return whether predictions must be ranked by score first, because only the first of each video is kept."""
        return self.pooling.one_per_video

    @property
    def by_score(self) -> bool:
        """Return whether every score must be a number, because predictions or videos are ranked by score."""
        return self.sorts or (self.pooling.top_videos is not None and self.chosen is None)

    def check(self, run: Run) -> tuple[list[Problem], list[str]]:
        """Return problems and warnings about predictions in videos outside their query's pool.

        A run with problems cannot be scored.
        """
        _, problems, warnings = self.places.outside(run, self.pooling.outside, "predictions")
        return problems, warnings

    def narrow(self, run: Run) -> Run:
        """Return the predictions that lie in their query's pool and are kept by `pooling`, in the order of the run."""
        place = self.places.of(run)
        positions = np.flatnonzero(place >= 0)
        if self.pooling.top_videos is not None:
            chosen = self.chosen
            if chosen is None:
                chosen = self.places.best_videos(place[positions], run.score[positions], self.pooling.top_videos)
            positions = positions[chosen[place[positions]]]
        if self.pooling.one_per_video:
            first = first_at(place[positions], len(self.places.keys))
            positions = positions[np.sort(first[first < len(positions)])]
        return run if len(positions) == len(place) else run.take(positions)


@dataclass(frozen=True, slots=True)
class InOwnVideo:
    """Selects the predictions of a run that lie in their query's own video, in the run's order."""

    places: Places

    sorts = by_score = False

    def check(self, run: Run) -> tuple[list[Problem], list[str]]:
        """Return no problems and no warnings: the runs have passed the checks of `InPools`."""
        return [], []

    def narrow(self, run: Run) -> Run:
        """Return the predictions that lie in their query's own video."""
        place = self.places.of(run)
        return run.take(np.flatnonzero((place >= 0) & self.places.is_own[np.maximum(place, 0)]))


def first_step(run: Run, places: Places, pooling: PoolConventions) -> tuple[Flags, list[str]]:
    """Return which videos of each query's pool the first step of a two-step retrieval keeps, and the warnings.

    The flags have shape (P,), one for each combination of a query with a video of its pool. The scores of `run` rank
    the videos of each pool, and the best `top_videos` are kept. Times are ignored.

    Raises:
        InputError: a score is not a number, or a video lies outside its query's pool and `pooling.outside` is `error`.
    """
    _, problems, warnings = places.outside(run, pooling.outside, "predictions")
    nowhere = np.flatnonzero(np.isnan(run.score))
    problems += [run.problem(position, "the score is not a number") for position in nowhere.tolist()]
    if problems:
        raise InputError(problems)
    place = places.of(run)
    positions = np.flatnonzero(place > OUTSIDE)
    chosen = places.best_videos(place[positions], run.score[positions], pooling.top_videos or TOP_VIDEOS)
    without = len(places.query_number) - len(np.unique(places.query[chosen]))
    if without:
        warnings.append(
            f"{run.file}: {without:,} queries of {places.file} have no video here, so nothing counts for them"
        )
    return chosen, warnings


@dataclass(frozen=True, slots=True)
class Pooled:
    """Everything that scoring in pools of videos needs: the truth in the pools, and which predictions of a run count.

    `narrowing` selects these predictions. `outside` is the number of truth moments outside their query's pool, which
    were left out.
    """

    places: Places
    pooling: PoolConventions
    truth: Truth
    narrowing: InPools
    outside: int
    warnings: tuple[str, ...]


def prepare_pools(
    pools: Pools, file: str, pooling: PoolConventions, *, truth: Truth | None = None, first: Run | None = None
) -> Pooled:
    """Combine pools with their truth and the first step of a two-step retrieval.

    Args:
        pools: the pools of `file`.
        file: the file's name, for messages.
        pooling: the choices that decide which predictions count.
        truth: graded truth of these queries; None takes the moments that the pools list as matches.
        first: a run whose scores rank the videos; then only the best `pooling.top_videos` of a query count.

    Raises:
        InputError: lists all problems: queries of the truth without a pool, and scores of `first` that are not numbers.
            If `pooling.outside` is `error`, also moments of the truth or of `first` outside their query's pool.
    """
    places = places_of(pools, file)
    if first is not None and pooling.top_videos is None:
        pooling = replace(pooling, top_videos=TOP_VIDEOS)
    problems: list[Problem] = []
    warnings = []
    if places.short:
        warnings.append(f"{file}: {len(places.short):,} queries have fewer than {pools.size} videos; they do not count")
    outside = 0
    if truth is None:
        truth = truth_of(pools, file)
    else:
        truth = places.without_short(truth)
        unknown = np.flatnonzero(places.queries_of(truth) == NO_POOL)
        problems += [
            Problem(truth.file, truth.query_rows[i], f"query {truth.queries[i]} has no pool in {file}") for i in unknown
        ]
        outside, refused, new_warnings = places.outside(truth, pooling.outside, "moments")
        problems += refused
        warnings += new_warnings
        truth = truth.take(np.flatnonzero(places.of(truth) >= 0))
    chosen = None
    if first is not None and pooling.top_videos is not None:
        try:
            chosen, new_warnings = first_step(places.without_short(first), places, pooling)
            warnings += new_warnings
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    narrowing = InPools(places, pooling, chosen)
    return Pooled(places, pooling, truth, narrowing, outside, tuple(warnings))


def score_in_pools(
    pooled: Pooled,
    runs: Mapping[str, Run],
    settings: Settings,
    *,
    options: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
    own_video: bool = False,
    progress: Progress | None = None,
) -> Scoreboard:
    """Score runs, with each query searched only in its own pool of videos.

    Args:
        pooled: the result of `prepare_pools`.
        runs: maps each run's name to its predictions.
        settings: the settings of the evaluation.
        options: further choices to show beside the numbers, such as the names of files.
        notes: sentences to show beside the numbers.
        own_video: whether each run is also scored in the query's own video alone, with the truth that lies there.
        progress: called with the name of the step, how much of it is done, and its total.

    Returns:
        A scoreboard whose summary has `pool`, with the number of queries and videos. In it, each run has
        `outside_pool`: the number of its predictions left out because their video is not in the query's pool. With
        `own_video`, each run also has what `with_own_video` adds.

    Raises:
        InputError: lists the problems of all runs; nothing is scored then.
    """
    places = pooled.places
    runs = {name: places.without_short(run) for name, run in runs.items()}
    board = score_runs(pooled.truth, runs, settings, narrowing=pooled.narrowing, progress=progress)
    of_run: dict[str, dict[str, Any]] = {
        name: {"outside_pool": places.outside(run, "drop", "predictions")[0]} for name, run in runs.items()
    }
    facts = {
        "queries": len(places.query_number),
        "videos": len(places.video_number),
        "size": len(places.keys) // len(places.query_number),
        "short": len(places.short),
        "truth_outside_pool": pooled.outside,
    }
    setting = Setting(
        {"pool": places.file} | pooled.pooling.options | dict(options or {}), {"pool": facts}, of_run, notes
    )
    board = replace(board, setting=setting, warnings=(*pooled.warnings, *board.warnings))
    if own_video:
        truth, narrowing = in_own_video(pooled)
        board = with_own_video(board, score_runs(truth, runs, settings, narrowing=narrowing, progress=progress))
    return board


def in_own_video(pooled: Pooled) -> tuple[Truth, InOwnVideo]:
    """Return the truth in each query's own video, and what selects the predictions there."""
    places = pooled.places
    return pooled.truth.take(np.flatnonzero(places.is_own[places.of(pooled.truth)])), InOwnVideo(places)


def with_own_video(board: Scoreboard, alone: Scoreboard) -> Scoreboard:
    """Return the scores in pools with those in the query's own video beside them.

    Args:
        board: the scores in pools.
        alone: the scores of the same runs with the result of `in_own_video`.

    Returns:
        A scoreboard in whose summary each run has `own_video`: `{"counted", "measures"}`, the number of queries and the
        means. If R1@0.5 and R5@0.5 were computed, it also has `overconfidence`: an `Overconfidence`.
    """
    of_run = {name: dict(entries) for name, entries in board.setting.of_run.items()}
    pool = {run.name: run.means for run in board.runs}
    for run in alone.runs:
        entries = of_run.setdefault(run.name, {})
        entries["own_video"] = {"counted": len(run.query), "measures": run.means}
        if drop := overconfidence(run.means, pool[run.name]):
            entries["overconfidence"] = drop
    further = [f"in the own video: {warning}" for warning in alone.warnings if warning not in board.warnings]
    return replace(board, setting=replace(board.setting, of_run=of_run), warnings=(*board.warnings, *further))
