"""R@K, IoU>=theta: whether one of the K best predictions overlaps a relevant moment by at least theta.

    R@K,theta = 1 if r(k) >= theta for some k <= K, otherwise 0

Source: what the evaluators of TVR, QVHighlights, Charades-STA and ActivityNet Captions print as "R@K, IoU=theta",
and Yang et al., MVMR, CIKM 2024, as "Rank n@m" (so the name `rank` works too). AxIoU's equation 1, which requires
more than theta, is `recall_gt`. r(k) is the highest IoU of the k-th prediction with a truth moment of its query and
video whose relevance is at least `min_relevance`. Several predictions may hit the same moment.

Edge cases: an IoU of exactly theta is a hit. A query without relevant moments scores 0.

Worked example: IoUs .2, .6, .5 reach .6 at rank 2.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 5, 0.7]]}
>>> evaluate(truth, run, measures=["recall"], k=[1, 2], theta=[0.5, 0.6])["mean"]
{'recall@1,0.5': 0.0, 'recall@1,0.6': 0.0, 'recall@2,0.5': 1.0, 'recall@2,0.6': 1.0}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return R@K,theta for each cut-off K, IoU threshold theta and query; shape (cut-offs, thetas, queries).

    It is 1 if one of the first K predictions has an IoU of at least theta with a relevant moment, otherwise 0.
    """
    return hits(matches, cutoffs, thetas, strict=False)


def hits(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...], *, strict: bool) -> Floats:
    """Return whether one of the first K predictions overlaps a relevant moment by an IoU of at least theta: 1 or 0.

    If `strict` is true, the IoU must be more than theta. The shape is (cut-offs, thetas, queries).
    """
    first = np.stack([matches.first_rank(matches.reaches(theta, strict=strict)) for theta in thetas])
    return np.stack([(first < k).astype(np.float64) for k in cutoffs])


MEASURE = Measure(
    "recall",
    "R",
    Threshold("theta", ">="),
    compute,
    "share of queries for which one of the K best predictions has IoU >= theta with a relevant moment",
    also={"rank": "rank is called recall: Rank n@m of MVMR is R@K, IoU>=theta"},
)
