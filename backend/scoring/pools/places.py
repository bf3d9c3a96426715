"""Hold pools as columns: each video of each query's pool is a place, and each moment lies at one or outside."""

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
"""Of a moment whose video is not in its query's pool, or whose query has none."""
_NAMED = 9
"""Moments that a refusal names, beside how many there are: together the lines that are shown."""


@dataclass(frozen=True, slots=True)
class Places:
    """P places, sorted by query, then video; `keys` are `query * videos + video`, shape (P,).

    `query` (P,) is the number of a place's query, `is_own` (P,) whether it is the query's own video. `short` are
    ids of queries whose pool is not full: they do not count.
    """

    file: str
    query_number: dict[str, int]
    short: frozenset[str]
    video_number: dict[str, int]
    keys: Indices
    query: Indices
    is_own: Flags

    def of(self, spans: Spans) -> Indices:
        """The place of each moment, shape (N,), `OUTSIDE` or `NO_POOL`."""
        queries = self.queries_of(spans)
        named = [self.video_number.get(video, OUTSIDE) for video in spans.videos]
        query = np.repeat(queries, np.diff(spans.offsets))
        video = np.array(named, dtype=np.int64)[spans.video]
        key = query * len(self.video_number) + video
        place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        place[(self.keys[place] != key) | (video == OUTSIDE)] = OUTSIDE
        place[query == NO_POOL] = NO_POOL
        return place

    def queries_of(self, spans: Spans) -> Indices:
        """The pools' number of each query, shape (Q,), `NO_POOL` where they lack it."""
        found = [self.query_number.get(str(query), NO_POOL) for query in spans.queries]
        return np.array(found, dtype=np.int64)

    def without_short(self, spans: AnySpans) -> AnySpans:
        """The moments without those of queries whose pool is short."""
        return spans.of_queries(np.array([str(query) not in self.short for query in spans.queries], dtype=bool))

    def outside(self, spans: Spans, rule: Outside, what: str) -> tuple[int, list[Problem], list[str]]:
        """How many moments lie outside their query's pool, then the refusal or the warning that the rule asks for.

        Args:
            spans: the moments.
            rule: `error` names the first of them, with file, query and video; `drop` counts them.
            what: they are called in messages.
        """
        lie_outside = self.of(spans) == OUTSIDE
        found = np.flatnonzero(lie_outside)
        if not len(found):
            return 0, [], []
        queries = len(np.unique(spans.query[found]))
        text = f"{len(found):,} {what} of {queries:,} queries are of videos outside their query's pool in {self.file}"
        if rule == "drop":
            return len(found), [], [f"{spans.file}: {text}; they were left out"]
        problems = [Problem(spans.file, None, f"{text} (--outside-pool drop leaves them out)")]
        for position in found[:_NAMED].tolist():
            video = spans.videos[spans.video[position]]
            problems.append(spans.problem(position, f"video {video} is not in the query's pool"))
        return len(found), problems, []

    def best_videos(self, place: Indices, score: Floats, top: int) -> Flags:
        """Which places are among the `top` of their query by the best score there, shape (P,).

        Args:
            place: of each prediction, all within the pools; shape (N,).
            score: a number each; shape (N,).
            top: at least 1; of equal videos that whose best prediction the run has first.
        """
        best = np.full(len(self.keys), -np.inf)
        np.maximum.at(best, place, score)
        bests = np.flatnonzero(score == best[place])
        first = first_at(place[bests], len(self.keys))
        seen = np.flatnonzero(first < len(bests))
        order = seen[np.lexsort((first[seen], -best[seen], self.query[seen]))]
        allowed = np.zeros(len(self.keys), dtype=bool)
        allowed[order[ranks_within(self.query[order]) < top]] = True
        return allowed


def first_at(place: Indices, places: int) -> Indices:
    """The first of N predictions at each place, N where there is none.

    >>> first_at(np.array([2, 0, 2]), 3).tolist()
    [1, 3, 0]
    """
    first = np.full(places, len(place))
    np.minimum.at(first, place, np.arange(len(place)))
    return first


def places_of(pools: Pools, file: str) -> Places:
    """The places of the pools that a file holds and that are full.

    Raises:
        InputError: there is none.
    """
    queries = pools.full
    if not queries:
        raise InputError.single(file, "holds no query with a pool")
    videos: dict[str, int] = {}
    video = [videos.setdefault(name, len(videos)) for one in queries for name in one.videos]
    query = np.repeat(np.arange(len(queries)), pools.size)
    keys = query * len(videos) + np.array(video, dtype=np.int64)
    order = np.argsort(keys)
    numbers = {one.query_id: number for number, one in enumerate(queries)}
    short = frozenset(one.query_id for one in pools.queries) - numbers.keys()
    first = np.arange(len(keys)) % pools.size == 0  # a query's own video stands first in its pool
    return Places(file, numbers, short, videos, keys[order], query, first[order])


def truth_of(pools: Pools, file: str) -> Truth:
    """The own and positive moments of full pools, as truth of relevance 1, each moment once."""
    queries = pools.full
    moments = [list(dict.fromkeys((m.video, m.start_s, m.end_s) for m in one.positives)) for one in queries]
    sizes = np.array([len(of_query) for of_query in moments], dtype=np.int64)
    flat = [moment for of_query in moments for moment in of_query]
    videos: dict[str, int] = {}
    video = np.array([videos.setdefault(name, len(videos)) for name, _, _ in flat], dtype=np.int64)
    query = np.repeat(np.arange(len(sizes)), sizes)
    return Truth(
        file=file,
        queries=tuple(one.query_id for one in queries),
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
