"""mAP, IoU>=theta: the field's average precision for moment detection, computed for each query and then averaged.

    AP = 1/G * sum over the right predictions of the highest precision at their rank or later

Source: Lei et al., QVHighlights, NeurIPS 2021, whose evaluator (after that of ActivityNet and MMAction2, after VOC
2011) computes it for each query over its relevant windows and takes the mean over the queries. It is interpolated: the
precision at a rank counts as the highest one from there on. Average precision as trec_eval has it is `trec_ap`.

Only the first ten predictions count, or as many as the option `map_depth` says. In rank order, each is matched with the
relevant moment of its video that has the highest IoU and is not matched yet. It is right if this IoU reaches theta,
otherwise wrong. G is the number of relevant moments, found or not, so more than ten cannot all be found. `map@avg` is
the mean over theta = .5, .55, ..., .95.

Edge cases: an IoU of exactly theta is right. A second prediction of the same moment is wrong. A query without relevant
moments scores 0. If two moments have the same IoU, the earlier one in the truth is taken. (The published code takes
the later one; at theta >= .5 this changes no value unless moments touch or overlap.)

Worked example: there are two relevant moments, and the IoUs with them at ranks 1, 2, 3 are 0, .8, 1. At theta = .5 the
precisions are 0, 1/2, 2/3, so both right predictions get 2/3. At .9 only the third prediction is right, with precision
1/3, and the other moment is not found.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> run = {"q": [["v", 20, 30, 0.9], ["v", 0, 8, 0.8], ["v", 50, 60, 0.7]]}
>>> evaluate(truth, run, measures=["map"], theta=[0.5, 0.9])["mean"]
{'map@0.5': 0.6666666666666666, 'map@0.9': 0.16666666666666666, 'map@avg': 0.5166666666666667}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.found import Matches
from backend.scoring.matching.greedy import beginnings
from backend.scoring.measure import Measure, Threshold

DEPTH = 10
"""How many predictions of a query count by default, as in the evaluator of QVHighlights."""


def compute(matches: Matches, _: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return the average precision for each IoU threshold theta and query, shape (1, thetas, queries), in [0, 1]."""
    return np.stack([_average_precision(matches, right) for right in matches.right(thetas, matches.map_depth)])[None]


def _average_precision(matches: Matches, right: Indices) -> Floats:
    """Return the average precision for each query, shape (Q,).

    `right` has the indices of the right predictions, in rank order.
    """
    query = matches.query[right]
    first = beginnings(query)
    before = np.repeat(first, np.diff(np.append(first, len(right))))
    precision = (np.arange(len(right)) - before + 1) / (matches.rank[right] + 1)
    # Precision only rises at right predictions, so only their precisions can be the highest at a rank or later. NumPy
    # compares complex numbers by real part (here the query), so this running maximum restarts with each query.
    best = np.maximum.accumulate((-query + 1j * precision)[::-1]).imag[::-1]
    total = np.bincount(query, best, minlength=matches.queries)
    return np.divide(total, matches.relevant, out=np.zeros(matches.queries), where=matches.relevant > 0)


MEASURE = Measure(
    "map",
    "mAP",
    Threshold("theta", ">=", averaged=tuple(round(0.5 + 0.05 * n, 2) for n in range(10))),
    compute,
    f"average precision of the first predictions ({DEPTH}, or the option map_depth) over the relevant moments, each "
    "found once",
    "interpolated",
    depth=DEPTH,
    depth_option="map_depth",
    usual=False,
)
