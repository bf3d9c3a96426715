"""NDCG@K, IoU>=mu: how well the ranking of found moments agrees with their graded relevance.

    DCG@K  = sum over ranks k = 1..K of gain(rel_k) / log2(k + 1)
    NDCG@K = DCG@K of the run / DCG@K of the ideal ranking

Source: Liang et al., TVR-Ranking, section 4. Predictions are matched one-to-one with truth moments whose IoU is at
least the threshold mu (see `matching`). rel_k is the relevance of the truth moment matched to the prediction at rank
k, or 0 if there is none. The ideal ranking holds the K highest relevances of the query's whole truth, matched or not.
The paper's gain is the relevance itself (`linear`). The evaluator published with TVR-Ranking uses 2**rel - 1 (`exp2`).

Edge cases: a query without relevant moments has ideal DCG 0 and NDCG 0. Ranks beyond the end of a short list add
nothing.

Worked example (the paper's Figure 2): the predictions [10, 30), [9, 29), [50, 70) of video v1 are matched to
truth moments of relevance 2, 4, 2. The ideal order is 4, 2, 2. So NDCG@3 with the paper's gain is
(2 + 4/log2(3) + 2/2) / (4 + 2/log2(3) + 2/2).

>>> from backend.scoring.evaluate import evaluate
>>> moments = [("v1", 12, 19, 4), ("v2", 0, 10, 2), ("v1", 20, 28, 2), ("v1", 50, 60, 2)]
>>> truth = {"q": [dict(zip(("video", "start", "end", "relevance"), moment)) for moment in moments]}
>>> run = {"q": [["v1", 10, 30, 0.9], ["v1", 9, 29, 0.8], ["v1", 50, 70, 0.7]]}
>>> evaluate(truth, run, measures=["ndcg"], k=[3], mu=[0.3])["mean"]
{'ndcg@3,0.3': 0.8821211986607034}
>>> evaluate(truth, run, preset="tvr-ranking", k=[3], mu=[0.3])["mean"]
{'ndcg@3,0.3': 0.7592076495650287}
"""

from collections.abc import Sequence

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.gain import OwnGain
from backend.scoring.matching.columns import Grades, Indices, order_within
from backend.scoring.matching.discount import Gain, discounted, gains_of
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return NDCG for each cut-off, mu and query, in [0, 1], shape (cut-offs, mus, queries)."""
    sums = [
        dcg(matches.query[hit], matches.rank[hit], relevance, matches.queries, cutoffs, matches.gain)
        for hit, relevance in matches.taken(mus)
    ]
    dcgs = np.stack(sums, axis=1)
    return ratio(dcgs, np.broadcast_to(matches.ideal[:, None], dcgs.shape))


def dcg(
    query: Indices, rank: Indices, relevance: Grades, queries: int, cutoffs: Sequence[int], gain: Gain | OwnGain
) -> Floats:
    """Return the discounted cumulative gain of ranked moments, shape (cut-offs, queries).

    Args:
        query: the index of each moment's query.
        rank: the rank of each moment in its query, counting from 0.
        relevance: the relevance of each moment.
        queries: the number of queries.
        cutoffs: the values of K, each at least 1.
        gain: converts relevance to gain: `linear` (unchanged), `exp2` (2**relevance - 1), or the caller's own.
    """
    return discounted(query, rank, gains_of(relevance, gain), queries, cutoffs)


def ideal_dcg(query: Indices, relevance: Grades, queries: int, cutoffs: Sequence[int], gain: Gain | OwnGain) -> Floats:
    """Return the discounted cumulative gain (DCG) of the best possible rankings, shape (cut-offs, queries).

    The best possible ranking of a query holds its truth moments, sorted by falling relevance. `query` is the index of
    each moment's query. The other parameters are those of `dcg`.

    >>> ideal_dcg(np.array([0, 0, 1]), np.array([2, 4, 3]), 3, [1], "linear").tolist()
    [[4.0, 3.0, 0.0]]
    """
    order = order_within(query, -relevance)
    return dcg(query[order], ranks_within(query[order]), relevance[order], queries, cutoffs, gain)


def ratio(dcgs: Floats, ideal: Floats) -> Floats:
    """Return NDCG in [0, 1]: each DCG in `dcgs` divided by that of the best possible ranking; 0 where that is 0.

    `ideal` has the DCG (discounted cumulative gain) of the best possible rankings, and the shape of `dcgs`.
    """
    result = np.zeros(dcgs.shape)
    np.divide(dcgs, ideal, out=result, where=ideal > 0)
    return result


def ranks_within(query: Indices) -> Indices:
    """Return the rank of each moment within its query, counting from 0.

    `query` is the index of each moment's query, in ascending order.

    >>> ranks_within(np.array([0, 0, 2])).tolist()
    [0, 1, 0]
    """
    size = np.bincount(query)
    return np.arange(len(query)) - np.repeat(np.cumsum(size) - size, size)


MEASURE = Measure(
    "ndcg",
    "NDCG",
    Threshold("mu", None, "mu"),
    compute,
    "how well the ranking of found moments agrees with their graded relevance",
)
