"""F1@K, IoU>=theta of localisation: how well the K best predictions and the relevant moments match one-to-one.

    F1@K,theta = 2 * TP / (min(K, n) + G)

n is the length of the list, and G the number of relevant moments of the query. Predictions are matched one-to-one with
relevant moments. In rank order, each takes that moment of its video, not yet taken, that has the highest IoU, if the
IoU reaches theta. TP is the number of predictions that take a moment. F1 is the harmonic mean of `loc_precision` and
`loc_recall`.

Source: the counting of true and false positives in temporal action detection and segmentation, such as the segmental F1
of Lea et al., Temporal Convolutional Networks for Action Segmentation and Detection, CVPR 2017 (F1@IoU of MS-TCN's
evaluator), for one query instead of one video. A second prediction of one moment is wrong. `cover_f1` forgives it, as
evaluators of dense captioning and of video language models do.

Edge cases: an IoU of exactly theta is right. A query without predictions or without relevant moments scores 0.

Worked example: three predictions, two relevant moments. The first prediction finds the first moment, the second the
same again, the third nothing: TP is 1, so precision is 1/3, recall 1/2 and F1 2/5.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 50)]}
>>> run = {"q": [["v", 0, 8, 0.9], ["v", 0, 9, 0.8], ["v", 20, 30, 0.7]]}
>>> evaluate(truth, run, measures=["loc_f1"], k=[1, 3], theta=[0.5])["mean"]
{'loc_f1@1,0.5': 0.6666666666666666, 'loc_f1@3,0.5': 0.4}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import Indices
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return F1 for each rank cut-off, IoU threshold theta and query, in [0, 1]."""
    predicted = np.stack([np.minimum(matches.size, k) for k in cutoffs])
    return shares(2 * true_positives(matches, cutoffs, thetas), predicted + matches.relevant)


def true_positives(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Indices:
    """Return how many of the first K predictions are matched with a relevant moment, shape (cut-offs, thetas, queries).

    K is a rank cut-off. The match is one-to-one, and the IoU must reach the threshold theta.
    """
    right = matches.right(thetas, max(cutoffs))
    return np.stack([[matches.counts(of_theta, k) for of_theta in right] for k in cutoffs])


def shares(counts: Indices, wholes: Indices) -> Floats:
    """Return `counts` divided by `wholes`, or 0 where the whole is 0; shape (cut-offs, thetas, queries).

    `counts` has that shape. `wholes` has the shape (cut-offs, queries) or (queries,).
    """
    wholes = np.broadcast_to(wholes[..., None, :], counts.shape)
    return np.divide(counts, wholes, out=np.zeros(counts.shape), where=wholes > 0)


MEASURE = Measure(
    "loc_f1",
    "F1",
    Threshold("theta", ">="),
    compute,
    "harmonic mean of precision and recall of the K best predictions, matched one-to-one with relevant moments",
    "localisation",
    usual=False,
)
