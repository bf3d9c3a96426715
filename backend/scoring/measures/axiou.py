"""AxIoU@K: the mean over ranks of the best IoU so far.

    AxIoU@K = 1/K * sum over k = 1..K of max(r(1), ..., r(k))

Source: Togashi et al., AxIoU, CVPR 2022, equation 5 (supplement, equation 10). It is the only one of the paper's
measures that satisfies both axioms: a redundant prediction changes nothing (INV-k; property 7), and a better best
prediction always counts (MON-k; property 8). It equals R@K,theta averaged over all theta and over all cut-offs up to K
(equations 6 to 8). r(j) is the highest IoU of the j-th prediction with
a truth moment of its query and video whose relevance is at least `min_relevance`.

Edge cases: in a list shorter than K, the running maximum continues up to K. A query without predictions or without
relevant moments scores 0.

Worked example: IoUs .2, .6, .4 have the running maxima .2, .6, .6, so AxIoU@3 is 1.4/3. Continued to K = 5 it is
2.6/5.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 4, 0.7]]}
>>> evaluate(truth, run, measures=["axiou"], k=[3, 5])["mean"]
{'axiou@3': 0.4666666666666666, 'axiou@5': 0.5199999999999999}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure


def compute(matches: Matches, cutoffs: tuple[int, ...], _: tuple[float, ...]) -> Floats:
    """Return the measure AxIoU for each rank cut-off and query, in [0, 1], shape (cut-offs, 1, queries)."""
    values = np.zeros((len(cutoffs), 1, matches.queries))
    for k, row in zip(cutoffs, values[:, 0], strict=True):
        row[:] = (matches.total(matches.best, k) + np.maximum(k - matches.size, 0) * matches.last_best) / k
    return values


MEASURE = Measure("axiou", "AxIoU", None, compute, "mean over the ranks of the best IoU so far")
