"""RR@K, IoU>=mu: the reciprocal rank of the first prediction matched with a relevant moment. Its mean is the MRR.

    RR@K,mu = 1/k, where k <= K is the rank of the first hit; 0 if there is none

A hit is a prediction that is matched with a relevant truth moment. Each moment is matched at most once (see `trec_ap`).
Source: Voorhees, The TREC-8 Question Answering Track Report, 1999; trec_eval's `recip_rank` where K is at least the
length of the list, and `RR@K` of ir_measures.

Edge cases: a query without relevant moments scores 0.

Worked example: the second prediction is the first hit.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> evaluate(truth, {"q": [["w", 0, 10, 0.9], ["v", 0, 8, 0.8]]}, measures=["rr"], k=[1, 10], mu=[0.5])["mean"]
{'rr@1,0.5': 0.0, 'rr@10,0.5': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.matching.greedy import beginnings
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the reciprocal rank of the first hit for each cut-off, IoU threshold mu and query; 0 without a hit.

    A hit is a prediction that is matched with a relevant truth moment.
    """
    values = np.zeros((len(cutoffs), len(mus), matches.queries))
    for column, hits in enumerate(matches.hits(mus)):
        first = hits[beginnings(matches.query[hits])]
        for row, k in enumerate(cutoffs):
            counted = first[matches.rank[first] < k]
            values[row, column, matches.query[counted]] = 1 / (matches.rank[counted] + 1)
    return values


MEASURE = Measure(
    "rr",
    "RR",
    Threshold("mu", None, "mu"),
    compute,
    "reciprocal rank of the first prediction that takes a relevant moment",
    usual=False,
    also={"mrr": "mrr is called rr: tables show its mean, the MRR"},
)
