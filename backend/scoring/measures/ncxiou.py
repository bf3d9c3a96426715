"""NCxIoU@K: the best IoU so far, at the rank where a person stops reading.

    NCxIoU@K = sum over k = 1..K of p(k) * max(r(1), ..., r(k))

Source: Togashi et al., AxIoU, CVPR 2022, section 4.1, after the normalised cumulative utility of Sakai and Robertson:
p(k) is the probability that a person abandons the list at rank k, and the best moment so far is what they leave with.
AxIoU@K is the case p(k) = 1/K. The option `abandonment` chooses p(k):

- `err` (unless told otherwise), as in the expected reciprocal rank: p(k) = r(k) * (1 - r(1)) * ... * (1 - r(k - 1)), so
  the IoU is how likely a moment satisfies;
- `uniform`: AxIoU@K;
- probabilities of ranks 1, 2, ..., such as `0.5,0.3,0.2`.

With p(k) that does not depend on the list it satisfies INV-k, and MON-k while somebody still reads at rank k; with
`err` it breaks both. r(j) is the IoU of the j-th prediction with the best truth moment of its query and video that has
at least `min_relevance`.

Edge cases: a list shorter than K carries its maximum on, and nobody is satisfied by a filler (`err`); who stops
nowhere within K counts 0; a query without prediction or relevant moment has 0.

Worked example: IoUs .2, .6, .4 have the running maxima .2, .6, .6. People stop with .2, .8 * .6, .8 * .4 * .4, so
.04 + .288 + .0768; with 0.5,0.3,0.2 it is .1 + .18 + .12.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 4, 0.7]]}
>>> evaluate(truth, run, measures=["ncxiou@3"])["mean"]
{'ncxiou@3': 0.4048}
>>> evaluate(truth, run, measures=["ncxiou@3"], abandonment=[0.5, 0.3, 0.2])["mean"]
{'ncxiou@3': 0.4}
"""

from itertools import pairwise

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.discount import ERR, UNIFORM, probabilities
from backend.scoring.matching.found import Found
from backend.scoring.measure import Measure


def compute(found: Found, cutoffs: tuple[int, ...], _: tuple[float, ...]) -> Floats:
    """NCxIoU of each cut-off and query, shape (cut-offs, 1, queries), in [0, 1]."""
    values = np.empty((len(cutoffs), 1, found.queries))
    for k, row in zip(cutoffs, values[:, 0], strict=True):
        stops, later = _stops(found, k)
        row[:] = found.total(stops * found.best, k) + later * found.last_best
    return values


def _stops(found: Found, k: int) -> tuple[Floats, Floats]:
    """How likely a person stops at each prediction, shape (P,), and after the list but within K, shape (Q,)."""
    if found.abandonment == ERR:
        return _satisfied(found), np.zeros(found.queries)
    if found.abandonment == UNIFORM:
        return np.full(len(found.rank), 1 / k), np.maximum(k - found.size, 0) / k
    p = np.array(probabilities(found.abandonment)[:k])
    within = np.minimum(found.rank, len(p) - 1)
    before = np.concatenate([np.zeros(1), np.cumsum(p)])
    return np.where(found.rank < len(p), p[within], 0.0), before[-1] - before[np.minimum(found.size, len(p))]


def _satisfied(found: Found) -> Floats:
    """r(k) * (1 - r(1)) * ... * (1 - r(k - 1)) of each prediction, shape (P,)."""
    by_rank = np.argsort(found.rank, kind="stable")
    edges = np.searchsorted(found.rank[by_rank], np.arange(int(found.size.max(initial=0)) + 1))
    reading, stops = np.ones(found.queries), np.empty(len(found.rank))
    for low, high in pairwise(edges.tolist()):
        at = by_rank[low:high]
        query, iou = found.query[at], found.iou[at]
        stops[at] = reading[query] * iou
        reading[query] *= 1 - iou
    return stops


MEASURE = Measure(
    "ncxiou",
    "NCxIoU",
    None,
    compute,
    "best IoU so far at the rank where a person stops, by the option abandonment (default err)",
    "AxIoU sec. 4.1",
    usual=False,
)
