"""Rprec, IoU>=mu: the precision of the R best predictions, where R is the number of relevant moments of the query.

    Rprec,mu = #{hits of rank <= R} / R

A hit is a prediction that is matched with a relevant truth moment. Each moment is matched at most once (see `trec_ap`).
Source: trec_eval's `Rprec`.

Edge cases: only the first thousand predictions count, as is usual in TREC. A query without relevant moments scores 0.

Worked example: there are two relevant moments. One of the first two predictions is a hit; the third does not count.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": v, "start": 0, "end": 10, "relevance": 1} for v in "ab"]}
>>> evaluate(truth, {"q": [[v, 0, 10, 0] for v in "acb"]}, measures=["rprec"], mu=[0.5])["mean"]
{'rprec@0.5': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold

DEPTH = 1000


def compute(matches: Matches, _: tuple[int, ...], mus: tuple[float, ...]) -> Floats:
    """Return R-precision for each mu and query, in [0, 1], shape (1, mus, queries)."""
    enough = np.minimum(matches.relevant, DEPTH)[matches.query]
    among = [hits[matches.rank[hits] < enough[hits]] for hits in matches.hits(mus)]
    counts = np.stack([matches.counts(hits, DEPTH) for hits in among])
    return np.divide(counts, matches.relevant, out=np.zeros(counts.shape), where=matches.relevant > 0)[None]


MEASURE = Measure(
    "rprec",
    "Rprec",
    Threshold("mu", None, "mu"),
    compute,
    "precision of the R best predictions, where R is the number of relevant moments",
    depth=DEPTH,
    usual=False,
)
