"""P@K, IoU>=mu: the precision of the K best predictions as in trec_eval.

    P@K,mu = #{hits of rank <= K} / K

A hit is a prediction that is matched with a relevant truth moment. Each moment is matched at most once (see `trec_ap`).
Source: trec_eval's `P_K`. The count is divided by K even if the list is shorter than K. `loc_precision` then divides
by the length of the list instead.

Edge cases: a query without relevant moments scores 0.

Worked example: one hit among two predictions.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> evaluate(truth, {"q": [["w", 0, 10, 0.9], ["v", 0, 8, 0.8]]}, measures=["p"], k=[2, 10], mu=[0.5])["mean"]
{'p@2,0.5': 0.5, 'p@10,0.5': 0.1}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the precision of the K best predictions for each cut-off K, IoU threshold mu and query, in [0, 1]."""
    return np.stack([[matches.counts(hits, k) / k for hits in matches.hits(mus)] for k in cutoffs])


MEASURE = Measure(
    "p",
    "P",
    Threshold("mu", None, "mu"),
    compute,
    "share of the ranks 1..K whose prediction takes a relevant moment",
    "trec_eval",
    usual=False,
)
