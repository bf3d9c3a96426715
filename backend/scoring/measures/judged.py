"""Judged@K, IoU>=mu: the share of the K best predictions that show a graded moment, whatever its grade.

    Judged@K,mu = 1/min(K, n) * #{k <= min(K, n): the k-th prediction reaches mu with some truth moment}

n is the length of the list. Pooled truth contains only moments that some systems found; all others count as not
relevant. So where Judged@K is low, other measures are low too, even for a good run. Source: the judgment rate of IR
evaluation (`Judged@k` of ir_measures). Its effect on systems outside the pool: Sakai, On information retrieval metrics
designed for evaluation with incomplete relevance assessments, 2008. IoU takes the place of document ids here. Moments
of every relevance count, also 0, and several predictions may show the same moment.

Edge cases: a list shorter than K is judged to its end. A query without predictions scores 0. IoU is compared as for
NDCG.

Worked example: the first two of three predictions overlap a graded moment, with IoU .6 and .8.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 0}]}
>>> run = {"q": [["v", 0, 6, 0.9], ["v", 0, 8, 0.8], ["w", 0, 8, 0.7]]}
>>> evaluate(truth, run, measures=["judged"], k=[1, 3], mu=[0.5])["mean"]
{'judged@1,0.5': 1.0, 'judged@3,0.5': 0.6666666666666666}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the share of the first predictions that show a graded moment, in [0, 1], shape (cut-offs, mus, queries).

    A prediction shows a moment if their IoU reaches the threshold mu. The first K predictions of a query count, for
    each rank cut-off K.
    """
    values = np.zeros((len(cutoffs), len(mus), matches.queries))
    for column, mu in enumerate(mus):
        graded = np.zeros(len(matches.query))
        graded[matches.pairs.prediction[matches.pairs.iou.reach(mu, strict=matches.strict)]] = 1
        for row, k in enumerate(cutoffs):
            values[row, column] = matches.total(graded, k) / np.maximum(np.minimum(matches.size, k), 1)
    return values


MEASURE = Measure(
    "judged",
    "Judged",
    Threshold("mu", None, "mu"),
    compute,
    "share of the K best predictions that show a graded moment, whatever its relevance",
    usual=False,
)
