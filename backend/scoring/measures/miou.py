"""mIoU: the IoU of the first prediction with a relevant moment, averaged over the queries.

    mIoU = r(1)

Source: the figure that papers print beside R@1 on Charades-STA, ActivityNet Captions and TACoS, for example Zhang et
al., 2D-TAN, AAAI 2020. r(1) is the highest IoU of the first prediction with a truth moment of its query and video whose
relevance is at least `min_relevance`. Tables print the mean over queries. It equals `axiou@1`; mIoU is the usual name.

Edge cases: a query without predictions or without relevant moments scores 0.

Worked example: of the IoUs .2, .6, .4 only the first counts.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 4, 0.7]]}
>>> evaluate(truth, run, measures=["miou"])["mean"]
{'miou': 0.2}
"""

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure


def compute(matches: Matches, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """Return the highest IoU of each query's first prediction with a relevant moment; shape (1, 1, queries).

    Values are in [0, 1].
    """
    return matches.total(matches.iou, 1)[None, None]


MEASURE = Measure("miou", "mIoU", None, compute, "IoU of the first prediction", depth=1, usual=False)
