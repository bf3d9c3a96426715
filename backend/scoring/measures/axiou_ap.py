"""AP@K,theta of AxIoU: the mean precision over all K ranks, where a prediction is right if its IoU exceeds theta.

    AP@K,theta = 1/K * sum over k = 1..K of 1/k * #{j <= k: r(j) > theta}

Source: Togashi et al., AxIoU, CVPR 2022, supplement, equation 4. The mean is over *all* ranks, not only those of
right predictions. So this is not the field's average precision, and it is never called mAP. r(j) is the highest IoU
of the j-th prediction with a truth moment of its query and video whose relevance is at least `min_relevance`. Several
predictions may hit the same moment.

Edge cases: a list shorter than K is filled up with misses. An IoU of exactly theta is a miss. A query without
relevant moments scores 0.

Worked example: IoUs .2, .6 at theta = .5 are a miss and a hit. At K = 3 a miss is added: (0 + 1/2 + 1/3) / 3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8]]}
>>> evaluate(truth, run, measures=["axiou_ap"], k=[2, 3], theta=[0.5])["mean"]
{'axiou_ap@2,0.5': 0.25, 'axiou_ap@3,0.5': 0.27777777777777773}
"""

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold

_SUMMED = 1000
"""From this n on, harmonic numbers are computed by a series; smaller ones are in a table."""
_HARMONIC = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, _SUMMED))])


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return the mean precision (AP) for each rank cut-off, IoU threshold theta and query.

    Values are in [0, 1], shape (cut-offs, thetas, queries).
    """
    return np.stack([_average_precision(matches, cutoffs, matches.reaches(t, strict=True)) for t in thetas], axis=1)


def _average_precision(matches: Matches, cutoffs: tuple[int, ...], right: Flags) -> Floats:
    running = np.cumsum(right)
    hits = np.bincount(matches.query[right], minlength=matches.queries)
    precision = (running - np.repeat(np.cumsum(hits) - hits, matches.size)) / (matches.rank + 1)
    values = np.zeros((len(cutoffs), matches.queries))
    for row, k in zip(values, cutoffs, strict=True):
        row[:] = matches.total(precision, k)
        short = np.flatnonzero((matches.size < k) & (hits > 0))
        # A miss that fills the list at rank k adds hits / k; harmonic numbers sum these, however large K is.
        row[short] += hits[short] * (harmonic(np.array([k])) - harmonic(matches.size[short]))
        row /= k
    return values


def harmonic(n: Indices) -> Floats:
    """Return the harmonic number 1 + 1/2 + ... + 1/n of each n from 0, with a relative error of 1e-15.

    >>> harmonic(np.array([0, 1, 4])).tolist()
    [0.0, 1.0, 2.083333333333333]
    """
    # The Euler-Maclaurin series; its next term, 1/(252 n^6), is below the last bit here.
    large = np.maximum(n, _SUMMED).astype(np.float64)
    series = np.log(large) + np.euler_gamma + 1 / (2 * large) - 1 / (12 * large**2) + 1 / (120 * large**4)
    return np.where(n < _SUMMED, _HARMONIC[np.minimum(n, _SUMMED - 1)], series)


MEASURE = Measure(
    "axiou_ap",
    "AP",
    Threshold("theta", ">"),
    compute,
    "mean over all ranks of the precision so far",
    "AxIoU suppl. eq. 4",
    also={
        "ap": "ap is called axiou_ap: AxIoU's mean precision over all ranks. The average precision of trec_eval is "
        "trec_ap, and that of moment detection map"
    },
)
