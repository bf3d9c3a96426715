"""R@K, IoU>theta: whether one of the K best predictions overlaps a relevant moment by more than theta.

    R@K,theta = 1 if r(k) > theta for some k <= K, otherwise 0

Source: Togashi et al., AxIoU, CVPR 2022, equation 1 (their appendix C writes >=). The field's "R@K, IoU=theta"
counts an IoU of exactly theta as a hit, see `recall`. If times are coarse, the two differ by percentage points.
r(k) is the highest IoU of the k-th prediction with a truth moment of its query and video whose relevance is at least
`min_relevance`. Several predictions may hit the same moment.

Edge cases: an IoU of exactly theta is a miss. A query without relevant moments scores 0.

Worked example: IoUs .2, .6, .5 exceed .5 at rank 2, not at rank 1.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 5, 0.7]]}
>>> evaluate(truth, run, measures=["recall_gt"], k=[1, 2], theta=[0.5, 0.6])["mean"]
{'recall_gt@1,0.5': 0.0, 'recall_gt@1,0.6': 0.0, 'recall_gt@2,0.5': 1.0, 'recall_gt@2,0.6': 0.0}
"""

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures.recall import hits


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return R@K,theta for each cut-off K, IoU threshold theta and query; shape (cut-offs, thetas, queries).

    It is 1 if one of the first K predictions has an IoU of more than theta with a relevant moment, otherwise 0.
    """
    return hits(matches, cutoffs, thetas, strict=True)


MEASURE = Measure(
    "recall_gt",
    "R",
    Threshold("theta", ">"),
    compute,
    "share of queries for which one of the K best predictions has IoU > theta with a relevant moment",
    "AxIoU eq. 1",
)
