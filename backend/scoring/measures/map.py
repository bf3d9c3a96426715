"""mAP, IoU>=theta: the field's average precision of moment detection, one list and its windows at a time.

    AP = 1/G * sum over the right predictions of the highest precision at their rank or later

Source: Lei et al., QVHighlights, NeurIPS 2021, whose evaluator (after that of ActivityNet and MMAction2, after VOC
2011) computes it for each query over its relevant windows and takes the mean over the queries. Only the first ten
predictions are looked at. In rank order each takes the best unmatched relevant moment of its video, if their IoU
reaches theta, and is right; otherwise it is wrong. G is the number of relevant moments, found or not, so more than ten
cannot all be found. `map@avg` is the mean over theta = .5, .55, ..., .95.

Edge cases: an IoU of exactly theta is right; a second prediction of the same moment is wrong; a query without
relevant moment has 0. Where two moments have the same IoU, the one earlier in the truth is taken (the published
code takes the later one; at theta >= .5 no value can change unless moments touch or overlap).

Worked example: two relevant moments; IoUs with them at ranks 1, 2, 3 are 0, .8, 1. At theta = .5 precisions are 0,
1/2, 2/3, so both right predictions have 2/3; at .9 only the third is right, with precision 1/3, and one moment is lost.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> run = {"q": [["v", 20, 30, 0.9], ["v", 0, 8, 0.8], ["v", 50, 60, 0.7]]}
>>> evaluate(truth, run, measures=["map"], theta=[0.5, 0.9])["mean"]
{'map@0.5': 0.6666666666666666, 'map@0.9': 0.16666666666666666, 'map@avg': 0.5166666666666667}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.found import Found
from backend.scoring.matching.greedy import beginnings
from backend.scoring.measure import Measure, Threshold

DEPTH = 10
"""Predictions of a list that are looked at, as in the evaluator of QVHighlights."""


def compute(found: Found, _: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """AP of each theta and query, shape (1, thetas, queries), in [0, 1]."""
    return np.stack([_average_precision(found, right) for right in found.right(thetas, DEPTH)])[None]


def _average_precision(found: Found, right: Indices) -> Floats:
    """AP of each query, shape (Q,); `right` are the right predictions, in rank order."""
    query = found.query[right]
    first = beginnings(query)
    before = np.repeat(first, np.diff(np.append(first, len(right))))
    precision = (np.arange(len(right)) - before + 1) / (found.rank[right] + 1)
    # Precision only rises at right predictions, so the highest one at a rank or later is that of one of them. From the
    # last to the first, complex numbers sort by query, which falls, then by precision: each query begins anew.
    best = np.maximum.accumulate((-query + 1j * precision)[::-1]).imag[::-1]
    total = np.bincount(query, best, minlength=found.queries)
    return np.divide(total, found.relevant, out=np.zeros(found.queries), where=found.relevant > 0)


MEASURE = Measure(
    "map",
    "mAP",
    Threshold("theta", ">=", averaged=tuple(round(0.5 + 0.05 * n, 2) for n in range(10))),
    compute,
    f"average precision of the first {DEPTH} predictions over the relevant moments, each found once",
    depth=DEPTH,
    usual=False,
)
