"""mIoU of DiDeMo: how well the first prediction overlaps the moments that people agree on.

    mean of the three highest IoUs of the first prediction with the moments that people gave

Source: Hendricks et al., Localizing Moments in Video, ICCV 2017, and its evaluator; see `didemo_rank5`.

Edge cases: a query without predictions scores 0. If a query has only one or two moments, the mean is over these.

Worked example: two of three people gave exactly the predicted moment, the third one twice as long: (1 + 1 + .5) / 3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": 10, "relevance": 1} for s in (5, 5, 0)]}
>>> evaluate(truth, {"q": [["v", 5, 10, 0.9]]}, measures=["didemo_miou"])["mean"]
{'didemo_miou': 0.8333333333333334}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure
from backend.scoring.measures.didemo_rank5 import AGREEING, lowest


def compute(matches: Matches, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """Return, for each query, the first prediction's mean IoU with the three moments that it overlaps best.

    With fewer moments, the mean is over these. Values are in [0, 1], shape (1, 1, queries).
    """
    pairs = matches.pairs
    of_first = pairs.take(
        (matches.rank[pairs.prediction] == 0) & (matches.relevance[pairs.truth] >= matches.min_relevance)
    )
    total = lowest(matches.query[of_first.prediction], -of_first.iou.values, matches.queries)[0]
    people = np.minimum(matches.relevant, AGREEING)
    mean: Floats = np.divide(-total, people, out=np.zeros(matches.queries), where=people > 0)
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
