"""Look up in which query's pool of videos a moment lies, with pools held as arrays of places.

A pool is the list of videos in which a query is searched. A place is one video in the pool of one query.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices, Spans, Truth, offsets_of
from backend.scoring.measures.ndcg import ranks_within
from backend.scoring.pools.model import Outside, Pools

AnySpans = TypeVar("AnySpans", bound=Spans)

OUTSIDE, NO_POOL = -1, -2
"""Used instead of a place if a moment's video is not in its query's pool (-1), or its query has no pool (-2)."""
_NAMED = 9
"""Number of moments that a refusal names. With the line that counts them, they fill all lines that are shown."""


@dataclass(frozen=True, slots=True)
class Places:
    """The P places of a file of pools. A place is one video in the pool of one query.

    Places are sorted by query, then by video. The arrays have one value for each place, shape (P,). `query` is the
    index of its query, and `is_own` tells whether its video is the one from which the query comes. `keys` combines
    query and video in one number: query index * number of videos + video index.

    `query_number` and `video_number` give the index of a query id or video name. `short` has the ids of queries whose
    pool has too few videos; these queries do not count in scores.
    """

    file: str
    query_number: dict[str, int]
    short: frozenset[str]
    video_number: dict[str, int]
    keys: Indices
    query: Indices
    is_own: Flags

    def of(self, spans: Spans) -> Indices:
        """Return the index of the place where each moment lies, shape (N,). A place is one video in one query's pool.

        The value is `NO_POOL` (-2) if the query has no pool, and `OUTSIDE` (-1) if the video is not in the query's
        pool.
        """
        queries = self.queries_of(spans)
        numbers = [self.video_number.get(video, OUTSIDE) for video in spans.videos]
        query = np.repeat(queries, np.diff(spans.offsets))
        video = np.array(numbers, dtype=np.int64)[spans.video]
        key = query * len(self.video_number) + video
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        place[(self.keys[place] != key) | (video == OUTSIDE)] = OUTSIDE
        place[query == NO_POOL] = NO_POOL
        return place

    def queries_of(self, spans: Spans) -> Indices:
        """Return the index of each query in the file of pools, shape (Q,); `NO_POOL` (-2) where a query has no pool."""
        numbers = [self.query_number.get(str(query), NO_POOL) for query in spans.queries]
        return np.array(numbers, dtype=np.int64)

    def without_short(self, spans: AnySpans) -> AnySpans:
        """Return the moments without those of queries whose pool has fewer videos than the largest pool."""
        return spans.of_queries(np.array([str(query) not in self.short for query in spans.queries], dtype=bool))

    def outside(self, spans: Spans, rule: Outside, noun: str) -> tuple[int, list[Problem], list[str]]:
        """Count the moments in videos outside their query's pool. Return their number, problems and warnings.

        Args:
            spans: the moments.
            rule: `error` returns problems that name the first moments by file, query and video; `drop` returns a
                warning.
            noun: the word for the moments in messages.
        """
        lie_outside = self.of(spans) == OUTSIDE
        positions = np.flatnonzero(lie_outside)
        if not len(positions):
            return 0, [], []
        queries = len(np.unique(spans.query[positions]))
        text = (
            f"{len(positions):,} {noun} of {queries:,} queries are of videos outside their query's pool in {self.file}"
        )
        if rule == "drop":
            return len(positions), [], [f"{spans.file}: {text}; they were left out"]
        problems = [Problem(spans.file, None, f"{text} (--outside-pool drop leaves them out)")]
        for position in positions[:_NAMED].tolist():
            video = spans.videos[spans.video[position]]
            problems.append(spans.problem(position, f"video {video} is not in the query's pool"))
        return len(positions), problems, []

    def best_videos(self, place: Indices, score: Floats, top: int) -> Flags:
        """Return which videos of the pools are among the `top` best of their query.

        A place is one video in the pool of one query, and the result has one flag for each of the P places. A video is
        as good as the highest score of a prediction in it.

        Args:
            place: the index of each prediction's place; no prediction lies outside the pools. Shape (N,).
            score: the score of each prediction; shape (N,).
            top: at least 1. Of equal videos, the one whose best prediction comes first in the run is taken.
        """
        best = np.full(len(self.keys), -np.inf)
        np.maximum.at(best, place, score)
        bests = np.flatnonzero(score == best[place])
        first = first_at(place[bests], len(self.keys))
        occupied = np.flatnonzero(first < len(bests))
        order = occupied[np.lexsort((first[occupied], -best[occupied], self.query[occupied]))]
        allowed = np.zeros(len(self.keys), dtype=bool)
        allowed[order[ranks_within(self.query[order]) < top]] = True
        return allowed


def first_at(place: Indices, places: int) -> Indices:
    """Return for each place (a video in the pool of a query) the index of the first prediction there, shape (places,).

    `place` gives each prediction's place. Where there is no prediction, the result is N, the number of predictions.

    >>> first_at(np.array([2, 0, 2]), 3).tolist()
    [1, 3, 0]
    """
    first = np.full(places, len(place))
    np.minimum.at(first, place, np.arange(len(place)))
    return first


def places_of(pools: Pools, file: str) -> Places:
    """Return all combinations of a query with a video of its pool. Queries whose pool is not full are left out.

    A pool is full if it has as many videos as the largest one.

    Raises:
        InputError: the file has no query with a pool.
    """
    queries = pools.full
    if not queries:
        raise InputError.single(file, "holds no query with a pool")
    videos: dict[str, int] = {}
    video = [videos.setdefault(name, len(videos)) for pool_query in queries for name in pool_query.videos]
    query = np.repeat(np.arange(len(queries)), pools.size)
    keys = query * len(videos) + np.array(video, dtype=np.int64)
    order = np.argsort(keys)
    numbers = {pool_query.query_id: number for number, pool_query in enumerate(queries)}
    short = frozenset(pool_query.query_id for pool_query in pools.queries) - numbers.keys()
    first = np.arange(len(keys)) % pools.size == 0  # a query's own video stands first in its pool
    return Places(file, numbers, short, videos, keys[order], query, first[order])


def truth_of(pools: Pools, file: str) -> Truth:
    """Return the moments that match the queries with a full pool, as truth of relevance 1, each moment once.

    A pool is full if it has as many videos as the largest one.
    """
    queries = pools.full
    moments = [
        list(dict.fromkeys((m.video, m.start_s, m.end_s) for m in pool_query.positives)) for pool_query in queries
    ]
    sizes = np.array([len(of_query) for of_query in moments], dtype=np.int64)
    flat = [moment for of_query in moments for moment in of_query]
    videos: dict[str, int] = {}
    video = np.array([videos.setdefault(name, len(videos)) for name, _, _ in flat], dtype=np.int64)
    query = np.repeat(np.arange(len(sizes)), sizes)
    return Truth(
        file=file,
        queries=tuple(pool_query.query_id for pool_query in queries),
        query_rows=tuple(range(1, len(sizes) + 1)),
        offsets=offsets_of(sizes),
        videos=tuple(videos),
        video=video,
        start_s=np.array([start_s for _, start_s, _ in flat], dtype=np.float64),
        end_s=np.array([end_s for _, _, end_s in flat], dtype=np.float64),
        row=query + 1,
        number=ranks_within(query) + 1,
        relevance=np.ones(len(flat)),
        durations=pools.durations,
    )
