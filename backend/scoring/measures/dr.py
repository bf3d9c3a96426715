"""dR@K, IoU>=theta: R@K discounted by how far the boundaries of the found moment are off, relative to the video.

    dR@K,theta = max over the pairs (p, g) of a prediction p and a relevant moment g of (1 - |s_p - s_g| / D) *
                 (1 - |e_p - e_g| / D)

s and e are start and end, and D is the duration of the video. A pair counts if its prediction is one of the K best and
its IoU reaches theta. Without such a pair the value is 0.

Source: "dR@n,IoU@m" of Yuan et al., A Closer Look at Temporal Sentence Grounding in Videos: Dataset and Metric, 2021
(arXiv:2101.09028); again in Lan et al., ACM TOMM 2023. Their repository has data, but no code. For K = 1 and one
relevant moment a query, the values are those of the evaluator of BSSARD (Qi et al., AAAI 2024). With several pairs,
here the best discounts count. dR is harder to inflate than R@K: predicting the whole video may reach a low threshold,
but with a large discount.

Edge cases: an IoU of exactly theta is a hit. A factor below 0, for a prediction far beyond the end of its video, counts
as 0. The duration of every video with a relevant moment must be known, from the truth or a video map.

Worked example: the relevant moment is [0, 10) of a video of 20 s. The prediction [0, 6) has IoU .6. Its start is exact
and its end 4 s off: 1 * (1 - 4/20).

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1, "duration": 20}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8]]}
>>> evaluate(truth, run, measures=["dr"], k=[1, 2], theta=[0.5])["mean"]
{'dr@1,0.5': 0.0, 'dr@2,0.5': 0.8}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.matching.greedy import Pairs
from backend.scoring.measure import Measure, Threshold


def compute(matches: Matches, cutoffs: tuple[int, ...], thetas: tuple[float, ...]) -> Floats:
    """Return dR (recall discounted by errors of start and end) for each rank cut-off, IoU threshold theta and query.

    Values are in [0, 1].
    """
    values = np.zeros((len(cutoffs), len(thetas), matches.queries))
    for column, theta in enumerate(thetas):
        pairs = matches.near.take(matches.near.iou.reach(theta, strict=False))
        kept = _kept(matches, pairs)
        for row, k in enumerate(cutoffs):
            first = matches.rank[pairs.prediction] < k
            np.maximum.at(values[row, column], matches.query[pairs.prediction[first]], kept[first])
    return values


def _kept(matches: Matches, pairs: Pairs) -> Floats:
    """Return the factor, in [0, 1], by which each pair of prediction and moment counts after errors of start and end.

    It is a product: one minus the error of the start, times one minus that of the end. Errors are shares of the video's
    duration, and larger errors than 1 count as 1.
    """
    prediction, moment, truth = pairs.prediction, pairs.truth, matches.truth
    duration_s = matches.duration_s[matches.video[prediction]]
    start_off_s = np.abs(matches.start_s[prediction] - truth.start_s[moment])
    end_off_s = np.abs(matches.end_s[prediction] - truth.end_s[moment])
    return np.maximum(1 - start_off_s / duration_s, 0) * np.maximum(1 - end_off_s / duration_s, 0)


MEASURE = Measure(
    "dr",
    "dR",
    Threshold("theta", ">="),
    compute,
    "R@K discounted by how far start and end of the found moment are off, relative to the video's duration",
    usual=False,
    needs_durations=True,
)
