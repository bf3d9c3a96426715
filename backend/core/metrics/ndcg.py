"""NDCG@K, IoU>=mu: how well the ranking of found moments agrees with their graded relevance.

    DCG@K  = sum over ranks k = 1..K of gain(rel_k) / log2(k + 1)
    NDCG@K = DCG@K of the run / DCG@K of the ideal ranking

Source: Liang et al., TVR-Ranking, section 4. rel_k is the relevance of the truth moment that the prediction at
rank k takes (see `matching`), 0 where it takes none. The ideal ranking holds the K highest relevances of the
query's whole truth, matched or not. The paper's gain is the relevance itself (`linear`); the published
evaluator's is 2**rel - 1 (`exp2`).

Edge cases: a query without relevant moment has ideal DCG 0 and NDCG 0; fewer than K predictions add nothing.

Worked example (the paper's Figure 2): the predictions [10, 30), [9, 29), [50, 70) of video v1 take truth moments
of relevance 2, 4, 2; the ideal order is 4, 2, 2, so (2 + 4/log2(3) + 2/2) / (4 + 2/log2(3) + 2/2).

>>> one_query, ranks = np.zeros(3, dtype=np.int64), np.arange(3)
>>> def at_3(gain):
...     found = dcg(one_query, ranks, np.array([2, 4, 2]), 1, 3, gain)
...     return ndcg(found, dcg(one_query, ranks, np.array([4, 2, 2]), 1, 3, gain)).tolist()
>>> at_3("linear"), at_3("exp2")
([0.8821211986607034], [0.7592076495650287])
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from backend.core.timespan import Floats

Gain = Literal["linear", "exp2"]
Indices = NDArray[np.int64]


def dcg(query: Indices, rank: Indices, relevance: Indices, queries: int, k: int, gain: Gain) -> Floats:
    """Discounted cumulative gain of each query, shape (queries,), at least 0.

    Args:
        query: query number of each ranked moment, shape (N,).
        rank: its rank counting from 0, shape (N,), rising within each query.
        relevance: its relevance, shape (N,); moments of relevance 0 may be left out.
        queries: number of queries; those without a moment get 0.
        k: cut-off, at least 1.
        gain: `linear` or `exp2`.
    """
    counted = rank < k
    rel = relevance[counted]
    gains = rel.astype(np.float64) if gain == "linear" else np.ldexp(1.0, rel) - 1.0
    # bincount adds in the order of its input, so in rank order: the same last bits as a loop over ranks.
    total = np.bincount(query[counted], gains / np.log2(rank[counted] + 2), minlength=queries)
    return total.astype(np.float64, copy=False)


def ideal_dcg(query: Indices, relevance: Indices, queries: int, k: int, gain: Gain) -> Floats:
    """DCG@K of each query's truth in its best order, shape (queries,).

    >>> ideal_dcg(np.array([0, 0, 1]), np.array([2, 4, 3]), 3, 1, "linear").tolist()
    [4.0, 3.0, 0.0]
    """
    order = np.lexsort((-relevance, query))
    return dcg(query[order], ranks_within(query[order], queries), relevance[order], queries, k, gain)


def ndcg(found: Floats, ideal: Floats) -> Floats:
    """`found / ideal`, both of one shape; 0 where the ideal is 0. In [0, 1]."""
    result = np.zeros(found.shape)
    np.divide(found, ideal, out=result, where=ideal > 0)
    return result


def ranks_within(query: Indices, queries: int) -> Indices:
    """Rank of each moment within its query, counting from 0; `query` is sorted.

    >>> ranks_within(np.array([0, 0, 2]), 3).tolist()
    [0, 1, 0]
    """
    size = np.bincount(query, minlength=queries)
    return np.arange(len(query)) - np.repeat(np.cumsum(size) - size, size)
