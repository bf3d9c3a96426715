"""Pools of massive-video retrieval (MVMR) in files; no project needed."""

from pathlib import Path

from backend.scoring.pools import stats
from backend.scoring.pools.files import read_pools
from backend.scoring.pools.stats import PoolStatistics


def pool_statistics(file: Path) -> PoolStatistics:
    """Count what a file of pools holds, as the paper's Table 1 does.

    Raises:
        InputError: with everything in the file that is wrong, by query and video.
    """
    return stats.count(read_pools(file))
