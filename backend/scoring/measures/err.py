"""ERR@K, IoU>=mu: the expected reciprocal rank at which a person who reads from the top is satisfied.

    ERR@K,mu = sum over ranks k = 1..K of 1/k * c(k) * (1 - c(1)) * ... * (1 - c(k - 1))
    c(k) = (2**rel_k - 1) / 2**h

rel_k is the relevance of the truth moment that the prediction of rank k takes, or 0; for the matching see `ndcg`. h is
the highest relevance of the scale: 4, or the highest one of a truth with other relevances than 0-4. c(k) is the
probability that the prediction satisfies a person who reads it.

Source: Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009, as gdeval, the program of TREC's Web
Track, computes it (`ERR@K` of ir_measures). trec_eval itself has no ERR. It is not normalised: with relevances 0-4 it
stays below 1 even for an ideal ranking. The option `gain` does not change it.

Edge cases: a query without relevant moments scores 0. `min_relevance` plays no part.

Worked example: rank 1 takes a moment of relevance 3 and rank 2 one of relevance 4: 7/16 + 1/2 * 9/16 * 15/16.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": r} for v, r in (("a", 3), ("b", 4))]}
>>> evaluate(truth, {"q": [["a", 0, 10, 0.9], ["b", 0, 8, 0.8]]}, measures=["err"], k=[1, 2], mu=[0.5])["mean"]
{'err@1,0.5': 0.4375, 'err@2,0.5': 0.701171875}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.discount import gains_of, stop_chances
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the expected reciprocal rank (ERR) for each rank cut-off, IoU threshold mu and query, in [0, 1)."""
    values = np.zeros((len(cutoffs), len(mus), matches.queries))
    for column, (prediction, relevance) in enumerate(matches.taken(mus)):
        query, rank = matches.query[prediction], matches.rank[prediction]
        chance = gains_of(relevance, "exp2") / np.exp2(matches.highest)
        terms = stop_chances(query, rank, chance, matches.queries) / (rank + 1)
        for row, k in enumerate(cutoffs):
            counted = rank < k
            values[row, column] = np.bincount(query[counted], terms[counted], minlength=matches.queries)
    return values


MEASURE = Measure(
    "err",
    "ERR",
    Threshold("mu", None, "mu"),
    compute,
    "expected reciprocal rank at which a person is satisfied, by the relevance of what predictions take",
    usual=False,
)
