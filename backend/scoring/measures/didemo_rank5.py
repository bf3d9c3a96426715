"""Rank@5 of DiDeMo: whether the moments that people agree on have a mean rank of 5 or better.

    1 if (a + b + c) / 3 <= 5, where a, b, c are the ranks of the three moments of a query that are ranked best

Source: Hendricks et al., Localizing Moments in Video, ICCV 2017, and its evaluator. In DiDeMo several people mark the
moment of each sentence in whole segments of five seconds, and a system ranks all such moments. A prediction is
therefore right only if its IoU is 1. A moment that two people gave counts twice. Of four people, the one whose moment
ranks worst does not count.

Edge cases: a moment that nothing predicts has no rank. If fewer than three moments have a rank, the query scores 0
(the published code aborts there). A query with fewer than three moments gets the mean over these.

Worked example: two of three people give the same moment. The ranks are 1, 1 and 3, and their mean is 5/3.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": 10, "relevance": 1} for s in (5, 5, 0)]}
>>> run = {"q": [["v", 5, 10, 0.9], ["v", 0, 5, 0.8], ["v", 0, 10, 0.7]]}
>>> evaluate(truth, run, measures=["didemo_rank5"])["mean"]
{'didemo_rank5': 1.0}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices, order_within
from backend.scoring.matching.found import Matches
from backend.scoring.matching.greedy import beginnings
from backend.scoring.measure import Measure

AGREEING = 3
"""How many people's moments count for a query: those that the run ranks best."""
MOMENTS = 21
"""The longest list: a video of six segments has 21 moments of whole segments."""


def compute(matches: Matches, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """Return 1 for each query whose moments have a mean rank of 5 or better in the run, else 0; shape (1, 1, queries).

    Of more than three moments, the three that are ranked best count.
    """
    return (mean_rank(matches) <= 5).astype(np.float64)[None, None]


def mean_rank(matches: Matches) -> Floats:
    """Return the mean rank (from 1) in the run of each query's three best ranked moments, shape (Q,).

    It is infinite if the run does not predict enough of the moments: three, or all of a query that has fewer.
    """
    same = matches.pairs.take(
        matches.pairs.iou.reach(1.0, strict=False) & (matches.relevance[matches.pairs.truth] >= matches.min_relevance)
    )
    # Predictions are in rank order, so a moment's first one ranks best.
    _, first = np.unique(same.truth, return_index=True)
    prediction = same.prediction[first]
    total, counted = lowest(
        matches.query[prediction], (matches.rank[prediction] + 1).astype(np.float64), matches.queries
    )
    people = np.minimum(matches.relevant, AGREEING)
    enough = (counted == people) & (people > 0)
    mean: Floats = np.divide(total, people, out=np.full(matches.queries, np.inf), where=enough)
    return mean


def lowest(query: Indices, values: Floats, queries: int) -> tuple[Floats, Indices]:
    """Return the sum of each query's three lowest values, and how many values were summed (fewer if it has fewer).

    `query` has the query of each value, and `queries` is the number of queries. Both results have shape (queries,).
    """
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
