"""Sums over ranks with the discount 1 / log2(k + 1), which TVR-Ranking and AxIoU share."""

from collections.abc import Sequence
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
