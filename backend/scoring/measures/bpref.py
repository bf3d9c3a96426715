"""bpref, IoU>=mu: how well a run orders the graded moments that it finds, whatever nobody has graded left out.

    bpref = 1/R * sum over the relevant moments found of 1 - min(n, R) / min(N, R)

R moments of the query's truth are relevant (of at least `min_relevance`), N are not; n of the latter stand before
the relevant one in the list. Predictions take truth moments one-to-one as for NDCG (see `matching`); those that take
none are passed over, so moments that nobody graded cost nothing. Source: Buckley and Voorhees, Retrieval evaluation
with incomplete information, SIGIR 2004, as trec_eval computes it.

Edge cases: the whole list counts, its first thousand predictions as is usual in TREC, so there is no K; with no graded
moment that is not relevant it is the share of relevant moments found; a query without relevant moment has 0.

Worked example: of two relevant moments and one graded 0, rank 1 takes a relevant one, rank 2 none, rank 3 that of 0
and rank 4 the other relevant one: (1 + (1 - 1/1)) / 2.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": n} for v, n in (("a", 3), ("b", 1), ("c", 0))]}
>>> run = {"q": [[v, 0, 10, 0] for v in "adcb"]}
>>> evaluate(truth, run, measures=["bpref"], mu=[0.5])["mean"]
{'bpref@0.5': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure, Threshold

DEPTH = 1000


def compute(found: Found, _: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """The bpref of each mu and query, shape (1, mus, queries), in [0, 1]."""
    return np.stack([_bpref(found, prediction, relevance) for prediction, relevance in found.taken(mus)])[None]


def _bpref(found: Found, prediction: Indices, relevance: Indices) -> Floats:
    """The bpref of each query, shape (Q,), from the predictions that take a moment, in order, and its relevance."""
    first = found.rank[prediction] < DEPTH
    query, right = found.query[prediction[first]], relevance[first] >= found.min_relevance
    wrong = np.cumsum(~right)
    of_query = np.bincount(query[~right], minlength=found.queries)
    before: Indices = wrong - np.repeat(np.cumsum(of_query) - of_query, np.bincount(query, minlength=found.queries))
    query, before = query[right], before[right]
    most = np.minimum(found.relevant, found.irrelevant)[query]
    lost = np.minimum(before, found.relevant[query]) / np.maximum(most, 1)
    total = np.bincount(query, 1 - lost, minlength=found.queries)
    return np.divide(total, found.relevant, out=np.zeros(found.queries), where=found.relevant > 0)


MEASURE = Measure(
    "bpref",
    "bpref",
    Threshold("mu", None, "mu"),
    compute,
    "share of the relevant moments found, reduced by irrelevant ones ranked before them; ungraded ones cost nothing",
    depth=DEPTH,
    usual=False,
)
