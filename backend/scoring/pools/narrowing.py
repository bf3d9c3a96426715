"""Narrow a run to its pools: to videos of the pool, the best of a first step, one moment a video, or the own video."""

from dataclasses import dataclass

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.timespan import Flags
from backend.scoring.matching.columns import Run
from backend.scoring.pools.places import OUTSIDE, Places, first_at
from backend.scoring.pools.pooling import TOP_VIDEOS, PoolConventions


@dataclass(frozen=True, slots=True)
class InPools:
    """A `Narrowing` of runs to their queries' pools.

    `chosen` are the places that the first step leaves, shape (P,); None where the run is its own first step.
    """

    places: Places
    pooling: PoolConventions
    chosen: Flags | None = None

    @property
    def sorts(self) -> bool:
        """Whether predictions must be ranked by score before they are narrowed: of each video the first is kept."""
        return self.pooling.one_per_video

    @property
    def by_score(self) -> bool:
        """Whether every score must be a number."""
        return self.sorts or (self.pooling.top_videos is not None and self.chosen is None)

    def check(self, run: Run) -> tuple[list[Problem], list[str]]:
        """What is refused of a run, and what is told of it."""
        _, problems, warnings = self.places.outside(run, self.pooling.outside, "predictions")
        return problems, warnings

    def narrow(self, run: Run) -> Run:
        """The predictions that count, in their order."""
        place = self.places.of(run)
        kept = np.flatnonzero(place >= 0)
        if self.pooling.top_videos is not None:
            chosen = self.chosen
            if chosen is None:
                chosen = self.places.best_videos(place[kept], run.score[kept], self.pooling.top_videos)
            kept = kept[chosen[place[kept]]]
        if self.pooling.one_per_video:
            first = first_at(place[kept], len(self.places.keys))
            kept = kept[np.sort(first[first < len(kept)])]
        return run if len(kept) == len(place) else run.take(kept)


@dataclass(frozen=True, slots=True)
class InOwnVideo:
    """A `Narrowing` of runs to their queries' own videos, in the order that they have: retrieval in one video."""

    places: Places

    sorts = by_score = False

    def check(self, run: Run) -> tuple[list[Problem], list[str]]:
        """Nothing is refused here that pools let pass."""
        return [], []

    def narrow(self, run: Run) -> Run:
        """The predictions of the own video."""
        place = self.places.of(run)
        return run.take(np.flatnonzero((place >= 0) & self.places.is_own[np.maximum(place, 0)]))


def first_step(run: Run, places: Places, pooling: PoolConventions) -> tuple[Flags, list[str]]:
    """The `top_videos` places that a run of videos' scores ranks highest, shape (P,), and what is told of it.

    No time of that run is looked at.

    Raises:
        InputError: a score that is not a number, or videos outside the pools where those are refused.
    """
    _, problems, warnings = places.outside(run, pooling.outside, "predictions")
    nowhere = np.flatnonzero(np.isnan(run.score))
    problems += [run.problem(position, "the score is not a number") for position in nowhere.tolist()]
    if problems:
        raise InputError(problems)
    place = places.of(run)
    kept = np.flatnonzero(place > OUTSIDE)
    chosen = places.best_videos(place[kept], run.score[kept], pooling.top_videos or TOP_VIDEOS)
    without = len(places.query_number) - len(np.unique(places.query[chosen]))
    if without:
        warnings.append(f"{run.file}: {without:,} queries of {places.file} have no video here; nothing counts for them")
    return chosen, warnings
