"""Rank@1 of DiDeMo: is the first prediction the moment that three people agree on?

    1 if (a + b + c) / 3 <= 1, where a, b, c are the ranks of the three moments of a query that are ranked best

Source: Hendricks et al., Localizing Moments in Video, ICCV 2017, and its evaluator; see `didemo_rank5`. At rank 1 it
asks that three people gave the moment of the first prediction.

Edge cases: a query with fewer than three moments asks that all of them are that of the first prediction.

Worked example: three people, one of whom means another moment; the ranks are 1, 1 and 3, their mean 5/3. Where
a third person means that of the two, it is 1.

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
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure
from backend.scoring.measures.didemo_rank5 import AGREEING, MOMENTS, mean_rank


def compute(found: Found, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """0 or 1 of each query, shape (1, 1, queries)."""
    return (mean_rank(found) <= 1).astype(np.float64)[None, None]


MEASURE = Measure(
    "didemo_rank1",
    "Rank@1 of DiDeMo",
    None,
    compute,
    f"whether the {AGREEING} best ranked of people's moments have a mean rank of 1",
    depth=MOMENTS,
    usual=False,
)
