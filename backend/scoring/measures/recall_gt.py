"""R@K, IoU>theta: whether one of the K best predictions overlaps a relevant moment by more than theta.

    R@K,theta = 1 if r(k) > theta for some k <= K, otherwise 0

Source: Togashi et al., AxIoU, CVPR 2022, equation 1 (their appendix C writes >=). The field's "R@K, IoU=theta"
counts an IoU of exactly theta, see `recall`; on a coarse grid of times the two differ by points. r(k) is the IoU
of the k-th prediction with the best truth moment of its query and video that has at least `min_relevance`; several
predictions may meet the same moment.

Edge cases: an IoU of exactly theta is a miss; a query without relevant moment has 0.

Worked example: IoUs .2, .6, .5 reach beyond .5 at rank 2, not at rank 1.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 5, 0.7]]}
>>> evaluate(truth, run, measures=["recall_gt"], k=[1, 2], theta=[0.5, 0.6])["mean"]
{'recall_gt@1,0.5': 0.0, 'recall_gt@1,0.6': 0.0, 'recall_gt@2,0.5': 1.0, 'recall_gt@2,0.6': 0.0}
"""

from backend.core.timespan import Floats
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures.recall import hits


def compute(found: Found, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """R of each cut-off, theta and query: 0 or 1."""
    return hits(found, cutoffs, thetas, strict=True)


MEASURE = Measure(
    "recall_gt",
    "R",
    Threshold("theta", ">"),
    compute,
    "share of queries for which one of the K best predictions has IoU > theta with a relevant moment",
    "AxIoU eq. 1",
)
