"""RBP@K, IoU>=mu: rank-biased precision, the rate of hits among the predictions that a person reads.

    RBP@K,mu = (1 - p) * sum over the hits of rank k <= K of p**(k - 1)

p is the probability that a person reads on after a rank: the option `persistence`, 0.8 if it is not given. A hit is a
prediction that is matched with a relevant truth moment. Each moment is matched at most once (see `trec_ap`).

Source: Moffat and Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, ACM TOIS 2008;
`RBP(rel=1, p=0.8)` of ir_measures where K is at least the length of the list. trec_eval itself has no RBP.

Edge cases: a short list adds nothing after its end. The value for K hits is 1 - p**K, below 1. A query without relevant
moments scores 0.

Worked example: hits at ranks 1 and 3: .2 * (1 + .8**2).

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": 1} for v in "ab"]}
>>> run = {"q": [[v, 0, 10, 0] for v in "acb"]}
>>> evaluate(truth, run, measures=["rbp@10,0.5"])["mean"]
{'rbp@10,0.5': 0.32799999999999996}
>>> evaluate(truth, run, measures=["rbp@10,0.5"], persistence=0.5)["mean"]
{'rbp@10,0.5': 0.625}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return rank-biased precision (RBP) for each cut-off, IoU threshold mu and query, in [0, 1)."""
    values = np.zeros((len(cutoffs), len(mus), matches.queries))
    for column, hits in enumerate(matches.hits(mus)):
        weight = matches.persistence ** matches.rank[hits].astype(np.float64)
        for row, k in enumerate(cutoffs):
            counted = matches.rank[hits] < k
            total = np.bincount(matches.query[hits[counted]], weight[counted], minlength=matches.queries)
            values[row, column] = (1 - matches.persistence) * total
    return values


MEASURE = Measure(
    "rbp",
    "RBP",
    Threshold("mu", None, "mu"),
    compute,
    "rank-biased precision: share of hits, weighted by how likely a person reads so far (option persistence, 0.8)",
    usual=False,
)
