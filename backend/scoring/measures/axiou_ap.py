"""AP@K,theta of AxIoU: the mean precision over all K ranks, where a prediction is right if its IoU exceeds theta.

    AP@K,theta = 1/K * sum over k = 1..K of 1/k * #{j <= k: r(j) > theta}

Source: Togashi et al., AxIoU, CVPR 2022, equation 4: the mean over *all* ranks, not only those of right predictions,
so it is not the average precision of the field and never called mAP. r(j) is the IoU of the j-th prediction with the
best truth moment of its query and video that has at least `min_relevance`; several predictions may meet the same
moment.

Edge cases: a list shorter than K goes on with misses; an IoU of exactly theta is a miss; a query without
relevant moment has 0.

Worked example: IoUs .2, .6 at theta = .5 are a miss and a hit, then a miss is added: (0 + 1/2 + 1/3) / 3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8]]}
>>> evaluate(truth, run, measures=["axiou_ap"], k=[2, 3], theta=[0.5])["mean"]
{'axiou_ap@2,0.5': 0.25, 'axiou_ap@3,0.5': 0.27777777777777773}
"""

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure, Threshold

_SUMMED = 1000
"""From here on a series gives harmonic numbers."""
_HARMONIC = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, _SUMMED))])


def compute(found: Found, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """AP of each cut-off, theta and query, in [0, 1]."""
    return np.stack([_average_precision(found, cutoffs, found.reaches(t, strict=True)) for t in thetas], axis=1)


def _average_precision(found: Found, cutoffs: tuple[int, ...], right: Flags) -> Floats:
    running = np.cumsum(right)
    hits = np.bincount(found.query[right], minlength=found.queries)
    precision = (running - np.repeat(np.cumsum(hits) - hits, found.size)) / (found.rank + 1)
    values = np.zeros((len(cutoffs), found.queries))
    for row, k in zip(values, cutoffs, strict=True):
        row[:] = found.total(precision, k)
        short = np.flatnonzero((found.size < k) & (hits > 0))
        # The misses that fill the list add hits * (1/(n+1) + ... + 1/K), however large K is.
        row[short] += hits[short] * (harmonic(np.array([k])) - harmonic(found.size[short]))
        row /= k
    return values


def harmonic(n: Indices) -> Floats:
    """1 + 1/2 + ... + 1/n of each n from 0, however large, to 1e-15 of its size.

    >>> harmonic(np.array([0, 1, 4])).tolist()
    [0.0, 1.0, 2.083333333333333]
    """
    # Euler and Maclaurin; the next term, 1/(252 n^6), is below the last bit here.
    large = np.maximum(n, _SUMMED).astype(np.float64)
    series = np.log(large) + np.euler_gamma + 1 / (2 * large) - 1 / (12 * large**2) + 1 / (120 * large**4)
    return np.where(n < _SUMMED, _HARMONIC[np.minimum(n, _SUMMED - 1)], series)


MEASURE = Measure(
    "axiou_ap",
    "AP",
    Threshold("theta", ">"),
    compute,
    "mean over all ranks of the precision so far",
    "AxIoU eq. 4",
    also={"ap": "ap is called axiou_ap: AxIoU's mean precision over all ranks, not the field's average precision"},
)
