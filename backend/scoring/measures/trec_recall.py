"""Recall@K, IoU>=mu as in trec_eval: the share of the relevant moments that the K best predictions find.

    Recall@K,mu = #{hits of rank <= K} / R

R is the number of relevant moments. A hit is a prediction that is matched with a relevant truth moment. Each moment is
matched at most once (see `trec_ap`). Source: trec_eval's `recall_K`.

`loc_recall` differs only in the matching: here, predictions can also be matched with moments of relevance 0. `recall`
(R@K) only asks whether any moment is found.

Edge cases: a query without relevant moments scores 0.

Worked example: one of two relevant moments is found.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": 1} for v in "ab"]}
>>> evaluate(truth, {"q": [["b", 0, 10, 0.9]]}, measures=["trec_recall@10,0.5"])["mean"]
{'trec_recall@10,0.5': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures.loc_f1 import shares


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the share of relevant moments found, for each cut-off, IoU threshold mu and query, in [0, 1]."""
    counts = np.stack([[matches.counts(hits, k) for hits in matches.hits(mus)] for k in cutoffs])
    return shares(counts, matches.relevant)


MEASURE = Measure(
    "trec_recall",
    "Recall",
    Threshold("mu", None, "mu"),
    compute,
    "share of the relevant moments that the K best predictions take",
    "trec_eval",
    usual=False,
)
