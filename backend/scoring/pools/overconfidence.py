"""Measure how far a system is distracted by other videos: overconfidence, as in Figure 6 of the MVMR paper. Pure."""

from collections.abc import Mapping
from typing import TypedDict

KEYS = ("recall@1,0.5", "recall@5,0.5")
"""The measures whose mean the paper compares: R1@0.5 and R5@0.5."""


class Overconfidence(TypedDict):
    """The mean of `KEYS` for one run, from 0 to 1.

    `own_video` is that in the query's own video (VMR), and `pool` that in its pool (MVMR). `drop` is the first minus
    the second, and `relative_drop` the drop as a share of the first, None if the first is 0. Both are below 0 if the
    pool is easier, because other videos of it match, too.
    """

    own_video: float
    pool: float
    drop: float
    relative_drop: float | None


def overconfidence(own_video: Mapping[str, float], pool: Mapping[str, float]) -> Overconfidence | None:
    """Return how much worse a run is in the pool than in the own video: Yang et al. 2024, MVMR (CIKM), Figure 6.

    The mean of both settings is m = (R1@0.5 + R5@0.5) / 2. The drop is m(own video) - m(pool). Times 100 it is in
    percentage points, which is how the paper states that of MMN (35.9 on average over three datasets).

    Args:
        own_video: the means of a run in the own video, by key, from 0 to 1.
        pool: its means in the pool, by key.

    Returns:
        The means and their drop. None if one of `KEYS` was not computed.

    Example: R1 and R5 fall from .5 and .9 to .2 and .5. So their mean falls from .7 to .35: by 35 points, or by half.

    >>> found = overconfidence({"recall@1,0.5": 0.5, "recall@5,0.5": 0.9}, {"recall@1,0.5": 0.2, "recall@5,0.5": 0.5})
    >>> {name: round(value, 3) for name, value in found.items()}
    {'own_video': 0.7, 'pool': 0.35, 'drop': 0.35, 'relative_drop': 0.5}
    """
    if not all(key in own_video and key in pool for key in KEYS):
        return None
    alone, pooled = (sum(means[key] for key in KEYS) / len(KEYS) for means in (own_video, pool))
    drop = alone - pooled
    return {"own_video": alone, "pool": pooled, "drop": drop, "relative_drop": drop / alone if alone > 0 else None}
