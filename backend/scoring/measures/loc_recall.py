"""Recall@K, IoU>=theta of localisation: the share of the relevant moments that the K best predictions take.

    Recall@K,theta = TP / G

TP is the number of relevant moments that are matched one-to-one with a prediction, and G that of all relevant ones.
Source: that of `loc_f1`, which explains the matching too. `recall` (R@K) only asks whether any moment is found, and
`moment_recall` lets one prediction find several moments.

Edge cases: a query without relevant moments scores 0.

Worked example: of two relevant moments one is taken.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> evaluate(truth, {"q": [["v", 0, 8, 0.9], ["v", 0, 9, 0.8]]}, measures=["loc_recall@5,0.5"])["mean"]
{'loc_recall@5,0.5': 0.5}
"""

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures.loc_f1 import shares, true_positives


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return the recall for each rank cut-off, IoU threshold theta and query, in [0, 1]."""
    return shares(true_positives(matches, cutoffs, thetas), matches.relevant)


MEASURE = Measure(
    "loc_recall",
    "Recall",
    Threshold("theta", ">="),
    compute,
    "share of the relevant moments that the K best predictions take, one-to-one",
    "localisation",
    usual=False,
)
