"""bpref, IoU>=mu: how well a run orders the graded moments that it finds, ignoring ungraded ones.

    bpref = 1/R * sum over the relevant moments found of 1 - min(n, R) / min(N, R)

A query's truth has R relevant moments (relevance of at least `min_relevance`) and N others. For each relevant moment
found, n is the number of these others that rank before it. Predictions are matched one-to-one with truth moments, as
for NDCG (see `matching`). Unmatched predictions are skipped, so ungraded moments cost nothing. Source: Buckley and
Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004, as trec_eval computes it.

Edge cases: there is no K; as usual in TREC, the first thousand predictions count. If N is 0, the value is the share of
relevant moments found. A query without relevant moments scores 0.

Worked example: the truth has two relevant moments and one of relevance 0. Rank 1 takes a relevant one, rank 2 none,
rank 3 the one of relevance 0, and rank 4 the other relevant one: (1 + (1 - 1/1)) / 2.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": n} for v, n in (("a", 3), ("b", 1), ("c", 0))]}
>>> run = {"q": [[v, 0, 10, 0] for v in "adcb"]}
>>> evaluate(truth, run, measures=["bpref"], mu=[0.5])["mean"]
{'bpref@0.5': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Grades, Indices
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold

DEPTH = 1000


def compute(matches: Matches, _: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return the measure bpref for each IoU threshold mu and query, shape (1, mus, queries), in [0, 1]."""
    return np.stack([_bpref(matches, prediction, relevance) for prediction, relevance in matches.taken(mus)])[None]


def _bpref(matches: Matches, prediction: Indices, relevance: Grades) -> Floats:
    """Return the measure bpref for each query at one IoU threshold, shape (Q,).

    Args:
        matches: the matching of the run with the truth, from which every measure is computed.
        prediction: the positions of the predictions that are matched with a truth moment, by query and rank.
        relevance: the relevance of the truth moment that each of these predictions is matched with.
    """
    first = matches.rank[prediction] < DEPTH
    query, right = matches.query[prediction[first]], relevance[first] >= matches.min_relevance
    wrong = np.cumsum(~right)
    of_query = np.bincount(query[~right], minlength=matches.queries)
    before: Indices = wrong - np.repeat(np.cumsum(of_query) - of_query, np.bincount(query, minlength=matches.queries))
    query, before = query[right], before[right]
    most = np.minimum(matches.relevant, matches.irrelevant)[query]
    lost = np.minimum(before, matches.relevant[query]) / np.maximum(most, 1)
    total = np.bincount(query, 1 - lost, minlength=matches.queries)
    return np.divide(total, matches.relevant, out=np.zeros(matches.queries), where=matches.relevant > 0)


MEASURE = Measure(
    "bpref",
    "bpref",
    Threshold("mu", None, "mu"),
    compute,
    "share of the relevant moments found, reduced by irrelevant ones ranked before them; ungraded ones cost nothing",
    depth=DEPTH,
    usual=False,
)
