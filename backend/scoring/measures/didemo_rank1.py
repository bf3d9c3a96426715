"""Rank@1 of DiDeMo: whether the first prediction is the moment that three people agree on.

    1 if (a + b + c) / 3 <= 1, else 0

Each person gave one moment for the query. a, b and c are the ranks that the run gives to these moments. If there are
more than three, the three best ranks count.

Source: Hendricks et al., Localizing Moments in Video, ICCV 2017, and its evaluator; see `didemo_rank5`. The value is 1
if three people gave the moment that the run predicts first.

Edge cases: if a query has fewer than three moments, all of them must equal the first prediction.

Worked example: two of three people give the same moment. The ranks are 1, 1 and 3, and their mean is 5/3, so the value
is 0. If a further person gives the moment of these two, the mean is 1 and the value 1.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": 10, "relevance": 1} for s in (5, 5, 0)]}
>>> run = {"q": [["v", 5, 10, 0.9], ["v", 0, 5, 0.8], ["v", 0, 10, 0.7]]}
>>> evaluate(truth, run, measures=["didemo_rank1"])["mean"]
{'didemo_rank1': 0.0}
>>> evaluate({"q": [*truth["q"], truth["q"][0]]}, run, measures=["didemo_rank1"])["mean"]
{'didemo_rank1': 1.0}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure
from backend.scoring.measures.didemo_rank5 import AGREEING, MOMENTS, mean_rank


def compute(matches: Matches, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """Return 1 for each query whose first prediction is the moment that people agree on, else 0.

    The shape is (1, 1, queries).
    """
    return (mean_rank(matches) <= 1).astype(np.float64)[None, None]


MEASURE = Measure(
    "didemo_rank1",
    "Rank@1 of DiDeMo",
    None,
    compute,
    f"whether the {AGREEING} best ranked of people's moments have a mean rank of 1",
    depth=MOMENTS,
    usual=False,
)
