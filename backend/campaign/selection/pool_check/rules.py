"""Rules of the check: which queries and videos of a file of pools people look at."""

import random

from backend.campaign.selection.pool_check.model import CheckedQuery, CheckSample
from backend.scoring.pools.model import PoolQuery, Pools


def sample(pools: Pools, queries: int, negatives: int, seed: int, *, most: int) -> CheckSample:
    """Draw queries that can be checked, with all their added positives and some of their negatives.

    A query can be checked if its pool is full, as in every published figure, and holds a video besides its own. The
    first query of a text stands for all of that text. Which negatives are drawn for a query depends on the seed and
    that query alone.

    Args:
        pools: of the file.
        queries: how many to draw; all that can be checked, if that is fewer.
        negatives: how many negatives a query, if its pool has so many.
        seed: of both draws.
        most: how many videos a query may have in all: negatives give way to positives.
    """
    seen: set[str] = set()
    checkable: list[PoolQuery] = []
    repeated = alone = 0
    for query in pools.full:
        text = " ".join(query.text.split())
        if len(query.videos) < 2:
            alone += 1
        elif text in seen:
            repeated += 1
        else:
            seen.add(text)
            checkable.append(query)
    chosen = random.Random(seed).sample(checkable, min(queries, len(checkable)))
    drawn = tuple(_drawn(query, negatives, seed, most) for query in chosen)
    return CheckSample(drawn, len(checkable), repeated, len(pools.queries) - len(pools.full), alone)


def _drawn(query: PoolQuery, negatives: int, seed: int, most: int) -> CheckedQuery:
    positives = tuple(video for video in query.positive_videos if video != query.own.video)
    room = max(0, min(negatives, len(query.negatives), most - len(positives)))
    return CheckedQuery(
        query, positives, tuple(random.Random(f"{seed}:{query.query_id}").sample(query.negatives, room))
    )
