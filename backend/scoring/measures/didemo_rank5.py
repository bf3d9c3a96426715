"""Rank@5 of DiDeMo: do the moments that people agree on stand among the first five?

    1 if (a + b + c) / 3 <= 5, where a, b, c are the ranks of the three moments of a query that are ranked best

Source: Hendricks et al., Localizing Moments in Video, ICCV 2017, and its evaluator. Several people place each sentence
in segments of five seconds, and a system ranks all moments of whole segments; so a prediction is that moment or it is
not: only IoU = 1 counts. Two people who gave the same moment count twice, and a fourth one who stands
apart does not count.

Edge cases: a moment that no prediction is has no rank, so fewer than three leave the query at 0 (the published code
stops there); a query with fewer than three moments has the mean over those.

Worked example: three people, one of whom means another moment; the ranks are 1, 1 and 3, their mean 5/3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": 10, "relevance": 1} for s in (5, 5, 0)]}
>>> run = {"q": [["v", 5, 10, 0.9], ["v", 0, 5, 0.8], ["v", 0, 10, 0.7]]}
>>> evaluate(truth, run, measures=["didemo_rank5"])["mean"]
{'didemo_rank5': 1.0}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices, order_within
from backend.scoring.matching.found import Found
from backend.scoring.matching.greedy import beginnings
from backend.scoring.measure import Measure

AGREEING = 3
"""People of a query who count: those whose moments a run ranks best."""
MOMENTS = 21
"""Moments of whole segments in a video of six, so the longest list."""


def compute(found: Found, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """0 or 1 of each query, shape (1, 1, queries)."""
    return (mean_rank(found) <= 5).astype(np.float64)[None, None]


def mean_rank(found: Found) -> Floats:
    """Mean rank, from 1, of each query's best ranked moments, infinite where too few are ranked, shape (Q,)."""
    same = found.pairs.take(
        found.pairs.iou.reach(1.0, strict=False) & (found.relevance[found.pairs.truth] >= found.min_relevance)
    )
    # Predictions stand in rank order, so the first one of a moment is the best.
    _, first = np.unique(same.truth, return_index=True)
    prediction = same.prediction[first]
    total, counted = lowest(found.query[prediction], (found.rank[prediction] + 1).astype(np.float64), found.queries)
    people = np.minimum(found.relevant, AGREEING)
    enough = (counted == people) & (people > 0)
    mean: Floats = np.divide(total, people, out=np.full(found.queries, np.inf), where=enough)
    return mean


def lowest(query: Indices, values: Floats, queries: int) -> tuple[Floats, Indices]:
    """Sum of the lowest few values of each query, and how many these are, shape (queries,) each."""
    order = order_within(query, values)
    query, values = query[order], values[order]
    start = beginnings(query)
    few = np.arange(len(query)) - np.repeat(start, np.diff(np.append(start, len(query)))) < AGREEING
    total = np.bincount(query[few], values[few], minlength=queries).astype(np.float64, copy=False)
    return total, np.bincount(query[few], minlength=queries)


MEASURE = Measure(
    "didemo_rank5",
    "Rank@5 of DiDeMo",
    None,
    compute,
    f"whether the {AGREEING} best ranked of people's moments have a mean rank of 5 or better",
    depth=MOMENTS,
    usual=False,
)
