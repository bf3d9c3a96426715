"""RR@K, IoU>=mu: the reciprocal rank of the first prediction that takes a relevant moment. Its mean is the MRR.

    RR@K,mu = 1/k, where k <= K is the rank of the first hit; 0 if there is none

Source: Voorhees, The TREC-8 Question Answering Track Report, 1999; trec_eval's `recip_rank` where K is at least the
length of the list, and `RR@K` of ir_measures. For hits, see `trec_ap`.

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
    """Return RR for each cut-off, mu and query, in [0, 1]."""
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
