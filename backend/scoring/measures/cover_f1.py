"""F1@K, IoU>=theta of coverage: harmonic mean of the shares of right predictions and of moments found.

    F1@K,theta = 2 * P * R / (P + R)
    P = share of the first min(K, n) predictions that reach theta with some relevant moment
    R = share of the relevant moments that one of these predictions reaches, which is `moment_recall`

n is the length of the list. Nothing is used up: two predictions of one moment are both right. `loc_f1` matches
one-to-one instead.

Source: this is the usual F1 of several windows, in dense captioning (the evaluator of ActivityNet Captions, Krishna et
al., ICCV 2017) and for video language models (TimeChat, VTimeLLM, the task TAL of E.T. Bench by Liu et al., NeurIPS
2024). As in E.T. Bench, F1 is computed for each query, and an IoU of exactly theta is right. Dense captioning requires
more than theta, and computes F1 from the mean precision and recall of all videos.

Edge cases: a query without predictions or without relevant moments scores 0.

Worked example: two of three predictions find the same one of two relevant moments: P is 2/3, R 1/2 and F1 4/7.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> run = {"q": [["v", 0, 8, 0.9], ["v", 0, 9, 0.8], ["v", 20, 30, 0.7]]}
>>> evaluate(truth, run, measures=["cover_f1"], k=[3], theta=[0.5])["mean"]
{'cover_f1@3,0.5': 0.5714285714285715}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold
from backend.scoring.measures import moment_recall
from backend.scoring.measures.loc_f1 import shares


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return F1 for each rank cut-off, IoU threshold theta and query, in [0, 1]."""
    recall = moment_recall.compute(matches, cutoffs, thetas)
    right = [np.flatnonzero(matches.reaches(theta, strict=False)) for theta in thetas]
    counts = np.stack([[matches.counts(of_theta, k) for of_theta in right] for k in cutoffs])
    precision = shares(counts, np.stack([np.minimum(matches.size, k) for k in cutoffs]))
    both = precision + recall
    return np.divide(2 * precision * recall, both, out=np.zeros(both.shape), where=both > 0)


MEASURE = Measure(
    "cover_f1",
    "F1",
    Threshold("theta", ">="),
    compute,
    "harmonic mean of the share of the K best predictions that reach a relevant moment and of the moments reached",
    "coverage",
    usual=False,
)
