"""Judged@K, IoU>=mu: how much of the K best predictions somebody has graded, whatever the grade.

    Judged@K,mu = 1/min(K, n) * #{k <= min(K, n): the k-th prediction reaches mu with some truth moment}

n is the length of the list. Truth that was pooled, from what some systems found, knows nothing about the other
moments and counts them as not relevant: where Judged@K is low, so are other measures, whether or not the run is bad.
Source: the judgment rate of IR evaluation (`Judged@k` of ir_measures; Sakai, On information retrieval metrics
designed for evaluation with incomplete relevance assessments, 2008, on what it does to systems outside the pool),
with IoU where documents have names. Moments of every relevance count, 0 too, and several predictions may meet one.

Edge cases: a shorter list is judged as far as it goes; a query without predictions has 0. IoU is compared as for NDCG.

Worked example: of three predictions the first two overlap a graded moment by .6 and .8.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 0}]}
>>> run = {"q": [["v", 0, 6, 0.9], ["v", 0, 8, 0.8], ["w", 0, 8, 0.7]]}
>>> evaluate(truth, run, measures=["judged"], k=[1, 3], mu=[0.5])["mean"]
{'judged@1,0.5': 1.0, 'judged@3,0.5': 0.6666666666666666}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure, Threshold


def compute(found: Found, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Share of graded predictions of each cut-off, mu and query, in [0, 1]."""
    values = np.zeros((len(cutoffs), len(mus), found.queries))
    for column, mu in enumerate(mus):
        graded = np.zeros(len(found.query))
        graded[found.pairs.prediction[found.pairs.iou.reach(mu, strict=found.strict)]] = 1
        for row, k in enumerate(cutoffs):
            values[row, column] = found.total(graded, k) / np.maximum(np.minimum(found.size, k), 1)
    return values


MEASURE = Measure(
    "judged",
    "Judged",
    Threshold("mu", None, "mu"),
    compute,
    "share of the K best predictions that show a graded moment, whatever its relevance",
    usual=False,
)
