"""Precision@K, IoU>=theta of localisation: the share of the K best predictions that take a relevant moment.

    Precision@K,theta = TP / min(K, n)

TP is the number of predictions that are matched one-to-one with a relevant moment, and n the length of the list.
Source: that of `loc_f1`, which explains the matching too. The precision of document retrieval, `p`, divides by K.

Edge cases: a query without predictions or without relevant moments scores 0.

Worked example: of two predictions one takes a relevant moment; the other repeats it.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> evaluate(truth, {"q": [["v", 0, 8, 0.9], ["v", 0, 9, 0.8]]}, measures=["loc_precision@5,0.5"])["mean"]
{'loc_precision@5,0.5': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures.loc_f1 import shares, true_positives


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return the precision for each rank cut-off, IoU threshold theta and query, in [0, 1]."""
    predicted = np.stack([np.minimum(matches.size, k) for k in cutoffs])
    return shares(true_positives(matches, cutoffs, thetas), predicted)


MEASURE = Measure(
    "loc_precision",
    "Precision",
    Threshold("theta", ">="),
    compute,
    "share of the K best predictions that take a relevant moment, one-to-one",
    "localisation",
    usual=False,
)
