"""Count a file of pools as one row of a table: Table 1 of the MVMR paper, and more."""

from dataclasses import dataclass
from pathlib import Path

from backend.scoring.pools.files import read_pools
from backend.scoring.pools.model import Pools


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a file of pools holds. All but the last three are of queries with a full pool, as published figures are.

    The first four are the paper's row: `positives` is the mean number of positive videos of a query, the own one
    included, `pool` how many videos are searched for each.
    """

    queries: int
    videos: int
    positives: float
    pool: int
    positive_moments: float
    """Mean of a query; more than `positives` where the own video has the sentence several times."""
    several_in_own: int
    """Queries of which the own video has several moments."""
    without_distractor: tuple[str, ...]
    """Queries that have a positive in every video of their pool: whatever is found there is right."""
    short: tuple[str, ...]
    """Queries with fewer videos in their pool than `pool`."""
    without_pool: int
    """Sentences that are no query."""
    hours: float
    """Of all videos."""


def pool_statistics(file: Path) -> PoolStatistics:
    """Count what a file of pools holds, as Table 1 of the MVMR paper does.

    Raises:
        InputError: with everything in the file that is wrong, by query and video.
    """
    return count(read_pools(file))


def count(pools: Pools) -> PoolStatistics:
    """What the pools of a file hold."""
    full = pools.full
    several = [query for query in full if len(query.positives) > 1 and query.positives[1].video == query.own.video]
    return PoolStatistics(
        queries=len(full),
        videos=len(pools.durations),
        positives=sum(len(query.positive_videos) for query in full) / max(len(full), 1),
        pool=pools.size,
        positive_moments=sum(len(query.positives) for query in full) / max(len(full), 1),
        several_in_own=len(several),
        without_distractor=tuple(query.query_id for query in full if not query.negatives),
        short=tuple(query.query_id for query in pools.queries if len(query.videos) < pools.size),
        without_pool=sum(map(len, pools.moments.values())) - len(pools.queries),
        hours=sum(pools.durations.values()) / 3600,
    )
