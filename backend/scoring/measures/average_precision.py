"""AP@K,theta: the mean precision over all K ranks, where a prediction is right if it overlaps by more than theta.

    AP@K,theta = 1/K * sum over k = 1..K of 1/k * #{j <= k: r(j) > theta}

Source: Togashi et al., AxIoU, CVPR 2022, equation 4: the mean over *all* ranks, not only those of right
predictions as in document retrieval. r(j) is the IoU of the j-th prediction with the best truth moment of its
query and video that has at least `min_relevance`; several predictions may meet the same moment.

Edge cases: a list shorter than K goes on with misses; an IoU of exactly theta is a miss; a query without
relevant moment has 0.

Worked example: IoUs .2, .6 at theta = .5 are a miss and a hit, then a miss is added: (0 + 1/2 + 1/3) / 3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8]]}
>>> evaluate(truth, run, measures=["ap"], k=[2, 3], theta=[0.5])["mean"]
{'ap@2,0.5': 0.25, 'ap@3,0.5': 0.27777777777777773}
"""

import numpy as np

from backend.ground.timespan import Flags, Floats
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure


def compute(found: Found, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """AP of each cut-off, theta and query, in [0, 1]."""
    return np.stack([_average_precision(found, cutoffs, found.reaches(t, strict=True)) for t in thetas], axis=1)


def _average_precision(found: Found, cutoffs: tuple[int, ...], right: Flags) -> Floats:
    # SciPy takes 0.2 s and 27 MB to load, which the desk and most commands need not pay.
    from scipy.special import digamma

    running = np.cumsum(right)
    hits = np.bincount(found.query[right], minlength=found.queries)
    precision = (running - np.repeat(np.cumsum(hits) - hits, found.size)) / (found.rank + 1)
    values = np.zeros((len(cutoffs), found.queries))
    for row, k in zip(values, cutoffs, strict=True):
        row[:] = found.total(precision, k)
        short = np.flatnonzero((found.size < k) & (hits > 0))
        # The misses that fill the list add hits * (1/(n+1) + ... + 1/K), however large K is.
        row[short] += hits[short] * (digamma(k + 1) - digamma(found.size[short] + 1))
        row /= k
    return values


MEASURE = Measure("ap", "theta", compute)
