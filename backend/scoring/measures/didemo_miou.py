"""mIoU of DiDeMo: how much of what people agree on does the first prediction cover?

    mean of the three highest IoUs of the first prediction with the moments that people gave

Source: Hendricks et al., Localizing Moments in Video, ICCV 2017, and its evaluator; see `didemo_rank5`.

Edge cases: a query without prediction has 0; one with fewer than three moments has the mean over those.

Worked example: three people, two of whom gave the first prediction, and one twice its length: (1 + 1 + .5) / 3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": 10, "relevance": 1} for s in (5, 5, 0)]}
>>> evaluate(truth, {"q": [["v", 5, 10, 0.9]]}, measures=["didemo_miou"])["mean"]
{'didemo_miou': 0.8333333333333334}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure
from backend.scoring.measures.didemo_rank5 import AGREEING, lowest


def compute(found: Found, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """Mean IoU of each query in [0, 1], shape (1, 1, queries)."""
    pairs = found.pairs
    of_first = pairs.take((found.rank[pairs.prediction] == 0) & (found.relevance[pairs.truth] >= found.min_relevance))
    total = lowest(found.query[of_first.prediction], -of_first.iou.values, found.queries)[0]
    people = np.minimum(found.relevant, AGREEING)
    mean: Floats = np.divide(-total, people, out=np.zeros(found.queries), where=people > 0)
    return mean[None, None]


MEASURE = Measure(
    "didemo_miou",
    "mIoU of DiDeMo",
    None,
    compute,
    f"IoU of the first prediction with people's moments, mean of the {AGREEING} highest",
    depth=1,
    usual=False,
)
