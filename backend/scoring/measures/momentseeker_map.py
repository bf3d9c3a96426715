"""AP@5 of MomentSeeker: the average precision of the first five predictions, with IoUs in place of hits.

    AP = sum over k = 1..5 of r(k) * (r(1) + ... + r(k)) / k

Source: Yuan et al., MomentSeeker, 2025, and `evaluate_map` of its evaluators (yhy-2000/MomentSeeker, cc1090a). r(k) is
the highest IoU of the k-th prediction with a truth moment of its query and video. The published code has one moment for
each query: from the start of the first to the end of the last.

Edge cases: the sum is not divided by the number of truth moments, so it may be up to 5. A query without predictions
scores 0.

Worked example: IoUs 1, .5 give 1 * 1 + .5 * 1.5 / 2.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> evaluate(truth, {"q": [["v", 0, 10, 0.9], ["v", 0, 5, 0.8]]}, measures=["momentseeker_map"])["mean"]
{'momentseeker_map': 1.375}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure

FIRST = 5
"""How many predictions count."""


def compute(matches: Matches, _: tuple[int, ...], __: tuple[float, ...]) -> Floats:
    """Return MomentSeeker's average precision for each query, which counts IoUs in place of hits.

    Values are in [0, 5], shape (1, 1, queries).
    """
    sums = np.array([matches.total(matches.iou, k) for k in range(FIRST + 1)])
    ranks = np.arange(1, FIRST + 1)[:, None]
    return np.asarray((np.diff(sums, axis=0) * sums[1:] / ranks).sum(axis=0))[None, None]


MEASURE = Measure(
    "momentseeker_map",
    "AP@5 of MomentSeeker",
    None,
    compute,
    f"average precision of the first {FIRST} predictions, with IoUs in place of hits",
    highest=float(FIRST),
    depth=FIRST,
    usual=False,
)
