"""AP@K, IoU>=mu as in trec_eval: the average precision of the ranking, over the relevant moments of the truth.

    AP@K,mu = 1/R * sum over the hits of rank k <= K of #{hits of rank <= k} / k

Predictions are matched one-to-one with truth moments, as for NDCG (see `matching`). A hit is a prediction matched with
a relevant moment (of relevance >= `min_relevance`). R is the number of relevant moments, found or not.

This is the average precision of document retrieval, with truth moments as the documents. Source: trec_eval's
`map_cut_K`, and `map` where K is at least the length of the list; Voorhees and Harman, TREC, 2005. `reelrank match-run`
writes the same ranking as files for TREC programs.

Two other measures have similar names. `map`, from moment detection, is interpolated, looks at the first ten predictions
and matches relevant moments alone. `axiou_ap` (`ap`) is a mean over all ranks.

Edge cases: a prediction matched with no moment, or with one of relevance 0, is a miss. A query without relevant moments
scores 0.

Worked example: there are two relevant moments, and the hits have ranks 2 and 3: (1/2 + 2/3) / 2.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": 2} for v in "ab"]}
>>> run = {"q": [[v, 0, 10, 0] for v in "cba"]}
>>> evaluate(truth, run, measures=["trec_ap"], k=[2, 10], mu=[0.5])["mean"]
{'trec_ap@2,0.5': 0.25, 'trec_ap@10,0.5': 0.5833333333333333}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.matching.greedy import beginnings
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the average precision (AP) for each cut-off, IoU threshold mu and query, in [0, 1]."""
    values = np.zeros((len(cutoffs), len(mus), matches.queries))
    for column, hits in enumerate(matches.hits(mus)):
        query, rank = matches.query[hits], matches.rank[hits]
        first = beginnings(query)
        before = np.repeat(first, np.diff(np.append(first, len(hits))))
        precision = (np.arange(len(hits)) - before + 1) / (rank + 1)
        for row, k in enumerate(cutoffs):
            counted = rank < k
            total = np.bincount(query[counted], precision[counted], minlength=matches.queries)
            np.divide(total, matches.relevant, out=values[row, column], where=matches.relevant > 0)
    return values


MEASURE = Measure(
    "trec_ap",
    "AP",
    Threshold("mu", None, "mu"),
    compute,
    "average precision of document retrieval: mean over the relevant moments of the precision at the rank of each",
    "trec_eval",
    usual=False,
)
