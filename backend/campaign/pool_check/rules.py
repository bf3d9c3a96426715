"""What of a file of pools people look at, and how sure the shares are that come of it."""

import random
from math import sqrt
from statistics import NormalDist

from backend.campaign.pool_check.model import CheckedQuery, CheckSample
from backend.scoring.pools.model import PoolQuery, Pools

CONFIDENCE = 0.95


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


def wilson(hits: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's score interval of a share, within [0, 1].

    With p = hits / n and z the (1 + confidence) / 2 quantile of the normal distribution (1.96 for 95 %):

        (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction.

    Raises:
        ValueError: `n` is not positive, or `hits` is not 0..n.

    >>> [round(bound, 4) for bound in wilson(81, 263)]
    [0.2553, 0.3662]
    """
    if not 0 <= hits <= n or n < 1:
        raise ValueError(f"{hits} of {n} is no share")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    p = hits / n
    middle = p + z * z / (2 * n)
    reach = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    whole = 1 + z * z / n
    # At the ends the formula gives 0 and 1 but for rounding.
    low = 0.0 if hits == 0 else (middle - reach) / whole
    return low, 1.0 if hits == n else (middle + reach) / whole
