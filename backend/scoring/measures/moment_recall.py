"""Moment recall@K, IoU>=theta: the share of a query's relevant moments that the K best predictions find.

    Moment recall@K,theta = 1/G * #{relevant moments g: some prediction of rank <= K has IoU >= theta with g}

G is the number of relevant moments. One prediction may find several moments, and several may find one; `loc_recall`
matches them one-to-one. `recall` (R@K) only asks whether any moment is found.

Source: the recall of the evaluator of dense captioning in ActivityNet Captions (Krishna et al., ICCV 2017), which
TimeChat and VTimeLLM use too, and of the task TAL of E.T. Bench (Liu et al., NeurIPS 2024), for queries instead of
videos. Dense captioning requires more than theta, and E.T. Bench at least theta, as here.

Edge cases: an IoU of exactly theta is found. A query without relevant moments scores 0.

Worked example: the two best predictions find the first of two relevant moments, and the third finds the other.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> run = {"q": [["v", 0, 8, 0.9], ["v", 0, 9, 0.8], ["v", 50, 55, 0.7]]}
>>> evaluate(truth, run, measures=["moment_recall"], k=[2, 3], theta=[0.5])["mean"]
{'moment_recall@2,0.5': 0.5, 'moment_recall@3,0.5': 1.0}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures.loc_f1 import shares


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return the share of relevant moments found, for each rank cut-off, IoU threshold theta and query, in [0, 1]."""
    finders = []
    for theta in thetas:
        pairs = matches.near.take(matches.near.iou.reach(theta, strict=False))
        # Pairs are in rank order, so the first one of a moment is that of the best-ranked prediction.
        finders.append(pairs.prediction[np.unique(pairs.truth, return_index=True)[1]])
    found = np.stack([[matches.counts(of_theta, k) for of_theta in finders] for k in cutoffs])
    return shares(found, matches.relevant)


MEASURE = Measure(
    "moment_recall",
    "Moment recall",
    Threshold("theta", ">="),
    compute,
    "share of the relevant moments that one of the K best predictions reaches",
    usual=False,
)
