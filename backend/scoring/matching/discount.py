"""Discounts of ranks: 1 / log2(k + 1), and how likely a person who reads a ranked list stops at each rank.

The first is for TVR-Ranking and AxIoU. The second is p(k) of NCxIoU: `err` stops at a moment with its IoU as
probability, if at none before it, as in the expected reciprocal rank; `uniform` at each of the K ranks alike; otherwise
the probabilities of ranks 1, 2, ... themselves, such as `0.5,0.3,0.2`, 0 from there on. They add up to 1 at most: the
rest leaves with nothing.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices

Gain = Literal["linear", "exp2"]


def discounted(query: Indices, rank: Indices, gains: Floats, queries: int, cutoffs: Sequence[int]) -> Floats:
    """Sum over ranks k = 1..K of gain / log2(k + 1), for each cut-off K and query, shape (cut-offs, queries).

    Args:
        query: query number of each ranked moment, shape (N,).
        rank: its rank counting from 0, shape (N,), rising within each query.
        gains: its gain, shape (N,); moments without gain may be left out.
        queries: number of queries; those without a moment get 0.
        cutoffs: values of K, at least 1.

    >>> discounted(np.array([0, 0]), np.array([0, 2]), np.array([1.0, 1.0]), 1, [1, 3]).tolist()  # log2(4) is 2
    [[1.0], [1.5]]
    """
    discounts = np.log2(np.arange(2, int(rank.max(initial=0)) + 3))
    terms = gains / discounts[rank]
    sums = np.zeros((len(cutoffs), queries))
    for row, k in zip(sums, cutoffs, strict=True):
        # bincount adds in the order of its input, so in rank order: the same last bits as a loop over ranks.
        counted = np.flatnonzero(rank < k)
        row[:] = np.bincount(query[counted], terms[counted], minlength=queries)
    return sums


ERR, UNIFORM = "err", "uniform"
NAMED = (ERR, UNIFORM)


def read_abandonment(value: object) -> str:
    """The text that stands for an abandonment: a name, or probabilities with commas.

    Raises:
        ValueError: says why it is none.

    >>> read_abandonment([0.5, 0.25]), read_abandonment("0.50, .25"), read_abandonment("uniform")
    ('0.5,0.25', '0.5,0.25', 'uniform')
    """
    if value in NAMED:
        return str(value)
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, Iterable):
        raise ValueError(f"{value!r} is neither {' nor '.join(NAMED)} nor probabilities such as 0.5,0.3,0.2")
    try:
        found = [float(part) for part in parts]
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is neither {' nor '.join(NAMED)} nor probabilities such as 0.5,0.3,0.2") from None
    if not found or not all(math.isfinite(one) and one >= 0 for one in found):
        raise ValueError(f"{value!r} contains a value that is not a probability: each must be a number of at least 0")
    if math.fsum(found) > 1 + 1e-9:
        raise ValueError(f"{value!r}: the probabilities add up to {math.fsum(found):.6g}, which is more than 1")
    return ",".join(map(repr, found))


def probabilities(text: str) -> list[float]:
    """The probabilities of ranks 1, 2, ... from what `read_abandonment` gives where it is not a name."""
    return [float(part) for part in text.split(",")]
