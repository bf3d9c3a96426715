"""Describe a dataset by the figures of Table 1 of the MVMR paper, and count what a file of pools holds. Pure.

A pool is the list of videos in which one query is searched. The videos in it that match the query are its positives.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from backend.scoring.pools.model import PoolMoment, Pools


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """A row of Table 1 of the MVMR paper, for a file of pools or a plain annotation file.

    The paper does not say what its means are over. This reading gives every published figure of the files at hand to
    its last digit (see docs/pools.md).

    Attributes:
        queries: the number of queries.
        videos: the number of videos of the file.
        moment_s: the mean length of a query's own moment, in seconds. Positives in other videos are left out.
        video_s: the mean length of a video, in seconds, each video once.
        positives: the mean number of videos that match a query, its own video included; 1 without pools.
        words: the mean number of words of a query, split at white space.
        most_positives: the largest number of videos that match a query; 1 without pools.
        pool: the number of videos in a full pool; 1 without pools.
    """

    queries: int
    videos: int
    moment_s: float
    video_s: float
    positives: float
    words: float
    most_positives: int
    pool: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolStatistics(DatasetRow):
    """Counts of what a file of pools holds.

    As in published figures, only queries with a full pool count, that is, with as many videos as the largest pool. But
    `videos`, `video_s`, `short`, `without_pool` and `hours` cover the whole file.

    Attributes:
        positive_moments: the mean number of moments that match a query; above `positives` if own videos have the
            sentence several times.
        several_in_own: the number of queries with several matching moments in their own video.
        without_distractor: the ids of queries for which every video of the pool matches: no result can be wrong.
        short: the ids of queries with fewer videos in their pool than `pool`.
        without_pool: the number of sentences without a pool, which are no queries.
        hours: the total duration of all videos, in hours.
        random_false_negatives: the share of queries, from 0 to 1, whose pool would hold a false negative if the other
            videos of the pool were drawn at random; see `random_pool_share`. Only the positives that the file lists
            are known to match. A file lists at most `most_positives` of them, so this is a lower bound.
    """

    positive_moments: float
    several_in_own: int
    without_distractor: tuple[str, ...]
    short: tuple[str, ...]
    without_pool: int
    hours: float
    random_false_negatives: float


def count(pools: Pools) -> PoolStatistics:
    """Count the queries, videos and matching moments in pools of videos, and the hours of all videos."""
    full = pools.full
    several = [query for query in full if len(query.positives) > 1 and query.positives[1].video == query.own.video]
    positives = [len(query.positive_videos) for query in full]
    return PoolStatistics(
        queries=len(full),
        videos=len(pools.durations),
        moment_s=_mean_length([query.own for query in full]),
        video_s=_mean(pools.durations.values()),
        positives=_mean(positives),
        words=_mean_words([query.own for query in full]),
        most_positives=max(positives, default=0),
        pool=pools.size,
        positive_moments=_mean([len(query.positives) for query in full]),
        several_in_own=len(several),
        without_distractor=tuple(query.query_id for query in full if not query.negatives),
        short=tuple(query.query_id for query in pools.queries if len(query.videos) < pools.size),
        without_pool=sum(map(len, pools.moments.values())) - len(pools.queries),
        hours=sum(pools.durations.values()) / 3600,
        random_false_negatives=random_pool_share([number - 1 for number in positives], len(pools.durations), pools.size)
        if full
        else 0.0,
    )


def count_moments(queries: Collection[Sequence[PoolMoment]], durations: Mapping[str, float]) -> DatasetRow:
    """Return the row of a dataset without pools, in which each query is searched in its own video alone.

    `queries` has the moments of each query, at least one. `durations` has the length of each video in seconds.
    """
    return DatasetRow(
        queries=len(queries),
        videos=len(durations),
        moment_s=_mean_length([moment for moments in queries for moment in moments]),
        video_s=_mean(durations.values()),
        positives=1.0,
        words=_mean_words([moments[0] for moments in queries]),
        most_positives=1,
        pool=1,
    )


def random_pool_share(positives: Iterable[int], videos: int, pool: int) -> float:
    """Return the share of queries whose pool would hold a false negative if its other videos were drawn at random.

    A pool holds the query's own video and n - 1 videos drawn from the V - 1 others, each at most once. Of these, p
    match the query. A drawn one would count as a negative although it matches: a false negative. At least one is drawn
    with the probability of the hypergeometric distribution, so no draw is needed:

        1 - C(V - 1 - p, n - 1) / C(V - 1, n - 1)

    The share is the mean of these probabilities. The MVMR paper estimates it for TACoS (Figure 2: over 40 %).

    Args:
        positives: p of each query, the number of matching videos other than its own; at least one query.
        videos: V, the number of videos.
        pool: n, the number of videos in a pool, from 1 to `videos`.

    Raises:
        ValueError: a number is out of range, or there is no query.

    Example: pools of 3 of 5 videos. Of the 4 other videos, 2 match the first query and none the second. Of the 6 pairs
    that may be drawn, 1 has neither of the 2. So the first query has a false negative in 5 draws of 6, the second in
    none.

    >>> random_pool_share([2, 0], videos=5, pool=3) == (5 / 6 + 0) / 2
    True
    """
    numbers = list(positives)
    if not 1 <= pool <= videos:
        raise ValueError(f"a pool has from 1 to {videos} videos, not {pool}")
    if not numbers or not 0 <= min(numbers) <= max(numbers) < videos:
        raise ValueError(f"each query has from 0 to {videos - 1} other videos that match, and there is at least one")
    draws = comb(videos - 1, pool - 1)
    chance = {p: 1 - comb(videos - 1 - p, pool - 1) / draws for p in set(numbers)}
    return _mean([chance[p] for p in numbers])


def _mean_length(moments: Collection[PoolMoment]) -> float:
    """Return the mean length of moments in seconds; 0 if there are none."""
    return _mean([moment.end_s - moment.start_s for moment in moments])


def _mean_words(moments: Collection[PoolMoment]) -> float:
    """Return the mean number of words of the sentences of moments, split at white space; 0 if there are none."""
    return _mean([len(moment.sentence.split()) for moment in moments])


def _mean(values: Collection[float]) -> float:
    """Return the mean of numbers; 0 if there are none."""
    return sum(values) / max(len(values), 1)
