"""The first step of a system of two steps: the run of another system, which names the videos to search for a query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from backend.core.errors import InputError, Problem
from backend.scoring.files.formats import read_run
from backend.scoring.pools.model import Pools
from backend.systems.learning.material import Indices, QueryKey

_NAMED = 5
"""How many missing queries an error names."""


class FirstStep(msgspec.Struct, frozen=True):
    """Where a system takes the videos of a query from.

    Attributes:
        runs: the run files, which share no query; their videos with their scores are the candidates.
        scores: whether these scores are logarithms or `linear`.
        negatives: in training, the number of videos drawn for a query.
        pool: they are drawn from all videos before the pair's own, and so many after it.
    """

    runs: tuple[str, ...]
    scores: Literal["log", "linear"] = "log"
    negatives: int = 3
    pool: int = 1000


@dataclass(frozen=True, slots=True, eq=False)
class FirstRun:
    """Runs as lists of videos: for each query the indices of its videos, best first, and logarithms of their scores.

    A video of several moments counts as its first one.
    """

    step: FirstStep
    lists: Mapping[str, tuple[Indices, npt.NDArray[np.float32]]]

    def require(self, queries: Iterable[QueryKey], file: str) -> None:
        """Raise an error if one of these queries of a file has no videos.

        Raises:
            InputError: names the first such queries.
        """
        if missing := [query for query in queries if str(query) not in self.lists]:
            named = ", ".join(map(str, missing[:_NAMED])) + (", ..." if len(missing) > _NAMED else "")
            fault = f"no run of the first step has videos for {len(missing):,} queries: {named}"
            raise InputError.single(file, f"{fault}. Predict them with the first system, too (`model.first_run`)")

    def candidates(self, query: QueryKey, count: int) -> tuple[Indices, npt.NDArray[np.float32]]:
        """Return the best `count` videos of a query, and the logarithms of their scores, each `(count,)` or shorter."""
        videos, scores = self.lists[str(query)]
        return videos[:count], scores[:count]

    def draw(
        self, queries: Sequence[QueryKey], own: Indices, positives: Sequence[Indices], generator: np.random.Generator
    ) -> tuple[Indices, npt.NDArray[np.bool_]]:
        """Draw other videos of the run for each pair of a query and a moment, uniformly and each at most once.

        They come from the videos ranked before the pair's own, and `pool` after it. If the run lacks that one, it
        counts as place 100, as in the published code, which does so for validation. Videos with another moment of the
        query are left out.

        Args:
            queries: the id of each pair's query.
            own: the index of each pair's video.
            positives: the indices of all videos that have a moment of the query, for each pair.
            generator: the random generator.

        Returns:
            The indices of drawn videos, `(pairs, negatives)`, and bool of that shape: False where too few could be
            drawn. The index is then that of the pair's own video.
        """
        drawn = np.repeat(own[:, None], self.step.negatives, axis=1)
        counts = np.zeros(drawn.shape, dtype=bool)
        for row, (query, video, right) in enumerate(zip(queries, own.tolist(), positives, strict=True)):
            ranked = self.lists[str(query)][0]
            place = np.flatnonzero(ranked == video)
            others = ranked[ranked != video][: (int(place[0]) if len(place) else 100) + self.step.pool]
            others = others[~np.isin(others, right)]
            chosen = generator.permutation(others)[: self.step.negatives]
            drawn[row, : len(chosen)], counts[row, : len(chosen)] = chosen, True
        return drawn, counts


def read_first_run(
    step: FirstStep, videos: Sequence[str], index: Mapping[int, str] | None = None, *, others: bool = False
) -> FirstRun:
    """Return the runs of a first step, as lists of videos.

    Args:
        step: the run files, and what their scores are.
        videos: the names of all videos, whose places are their indices.
        index: the names of videos that a run gives by number.
        others: whether a run may have other videos, which are then left out.

    Raises:
        InputError: a run cannot be read, or has unknown videos, a query of another run, or scores that are not finite
            or, if they are `linear`, not above 0.
    """
    number = {name: place for place, name in enumerate(videos)}
    lists: dict[str, tuple[Indices, npt.NDArray[np.float32]]] = {}
    problems: list[Problem] = []
    for file in step.runs:
        run = read_run(Path(file), index)
        shown = {run.videos[video] for video in np.unique(run.video).tolist()}
        if (unknown := sorted(shown - number.keys())) and not others:
            named = ", ".join(unknown[:_NAMED])
            raise InputError.single(file, f"{len(unknown):,} videos are not in video_corpus.json, such as {named}")
        for place, query in enumerate(run.queries):
            if str(query) in lists:
                problems.append(Problem(file, None, f"query {query} is in another run of the first step, too"))
            rows = np.arange(int(run.offsets[place]), int(run.offsets[place + 1]))
            _, first = np.unique(run.video[rows], return_index=True)
            best = rows[np.sort(first)]
            best = best[[run.videos[video] in number for video in run.video[best].tolist()]]
            scores = np.asarray(run.score[best], dtype=np.float64)
            if not np.isfinite(scores).all() or (step.scores == "linear" and not (scores > 0).all()):
                wanted = "above 0, as `model.first_scores` is linear" if step.scores == "linear" else "finite"
                problems.append(Problem(file, None, f"query {query}: scores of videos have to be {wanted}"))
                continue
            logs = np.log(scores) if step.scores == "linear" else scores
            indices = np.array([number[run.videos[video]] for video in run.video[best].tolist()], dtype=np.int64)
            lists[str(query)] = indices, logs.astype(np.float32)
    if problems:
        raise InputError(problems)
    return FirstRun(step, lists)


def within_pools(pools: Pools, videos: Sequence[str], first: FirstRun | None) -> FirstRun:
    """Return the pool of each query as its list of videos, all of score 0; of a first run, what it has in the pool.

    Args:
        pools: the queries, each with the videos in which it is searched.
        videos: the names of all videos, whose places are their indices.
        first: the first run of a system of two steps, with all these queries; None for other systems.
    """
    number = {name: place for place, name in enumerate(videos)}
    lists = {}
    for query in pools.queries:
        pool = np.array([number[video] for video in query.videos], dtype=np.int64)
        shown, scores = (pool, np.zeros(len(pool), np.float32)) if first is None else first.lists[query.query_id]
        kept = np.isin(shown, pool)
        lists[query.query_id] = shown[kept], scores[kept]
    return FirstRun(FirstStep(()) if first is None else first.step, lists)
