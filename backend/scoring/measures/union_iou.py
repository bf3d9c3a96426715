"""Union IoU@K: the IoU of the union of the K best predictions with the union of the relevant moments.

    Union IoU@K = |P ∩ G| / |P ∪ G|

P is all time that the K best predictions cover, and G all time that the query's relevant moments cover, in all videos.

Source: the IoU of answers with several windows, as video language models give them: "mIoU" of CG-Bench (Chen et al.,
ICLR 2025), and the temporal IoU of VUE-TR (Vidi, 2025). Both use all windows of an answer. To do the same, choose a K
that is at least the number of windows.

Edge cases: time that several predictions cover counts once. A query without predictions or without relevant moments
scores 0. VUE-TR gives 1 to an empty answer to a query without moments; `no_relevant=correct_empty` does the same. Times
are added up in float64, whatever `arithmetic` is.

Worked example: the relevant moments [0, 10) and [20, 30) last 20 s. The first prediction [0, 10) covers half of them.
With the second, [5, 25), 15 of the 30 s that are covered by either are covered by both.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": s, "end": s + 10, "relevance": 1} for s in (0, 20)]}
>>> evaluate(truth, {"q": [["v", 0, 10, 0.9], ["v", 5, 25, 0.8]]}, measures=["union_iou"], k=[1, 2])["mean"]
{'union_iou@1': 0.5, 'union_iou@2': 0.5}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.columns import order_within
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure


def compute(matches: Matches, cutoffs: tuple[int, ...], _: tuple[float, ...]) -> Floats:
    """Return the IoU of the unions for each cut-off and query, in [0, 1], shape (cut-offs, 1, queries)."""
    of_query, moment = matches.moments
    truth = matches.truth
    video = np.repeat(truth.group_key % truth.videos, truth.group_size)[moment]
    videos = max(int(matches.video.max(initial=0)), int(video.max(initial=0))) + 1
    place = np.concatenate([matches.query * videos + matches.video, of_query * videos + video])
    start_s = np.concatenate([matches.start_s, truth.start_s[moment]])
    end_s = np.concatenate([matches.end_s, truth.end_s[moment]])
    # A moment of the truth has rank -1: it counts for every cut-off.
    rank = np.concatenate([matches.rank, np.full(len(moment), -1)])
    spans = np.flatnonzero(np.isfinite(start_s) & np.isfinite(end_s) & (end_s > start_s))
    # Each span is two events. Going through the events in order of time, the number of open spans of either kind is a
    # running sum, which is 0 again after the last event of each query and video.
    time_s = np.concatenate([start_s[spans], end_s[spans]])
    order = order_within(np.tile(place[spans], 2), time_s)
    time_s, place, rank = time_s[order], np.tile(place[spans], 2)[order], np.tile(rank[spans], 2)[order]
    step = np.repeat([1, -1], len(spans))[order]
    values = np.zeros((len(cutoffs), 1, matches.queries))
    for row, k in zip(values[:, 0], cutoffs, strict=True):
        counted = np.flatnonzero(rank < k)
        predicted = np.cumsum(np.where(rank[counted] >= 0, step[counted], 0)) > 0
        relevant = np.cumsum(np.where(rank[counted] < 0, step[counted], 0)) > 0
        lasts_s = np.append(np.diff(time_s[counted]), 0.0)
        query = place[counted] // videos
        both, either = (
            np.bincount(query[part], lasts_s[part], minlength=matches.queries)
            for part in (predicted & relevant, predicted | relevant)
        )
        np.divide(both, either, out=row, where=either > 0)
    return values


MEASURE = Measure(
    "union_iou",
    "Union IoU",
    None,
    compute,
    "IoU of the time that the K best predictions cover with the time that the relevant moments cover",
    usual=False,
)
