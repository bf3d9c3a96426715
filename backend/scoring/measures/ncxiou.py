"""NCxIoU@K: the expected best IoU at the rank where a person stops reading.

    NCxIoU@K = sum over k = 1..K of p(k) * max(r(1), ..., r(k))

Source: Togashi et al., AxIoU, CVPR 2022, section 4.1, equations 2 to 4, after the normalised cumulative utility of
Sakai and Robertson. p(k) is the probability that a person stops reading at rank k. The person then has the best moment
of ranks 1..k. The option `abandonment` chooses p(k):

- `uniform` (default): p(k) = 1/K, the paper's own choice. The value is then AxIoU@K (equation 5);
- `err`, as in the expected reciprocal rank: p(k) = r(k) * (1 - r(1)) * ... * (1 - r(k - 1)). A person who reads a
  prediction stops there with a probability equal to its IoU. The paper names this distribution as future work, and
  gives no formula for it; this one is ours;
- probabilities of ranks 1, 2, ..., such as `0.5,0.3,0.2`.

r(j) is the highest IoU of the j-th prediction with a truth moment of its query and video whose relevance is at least
`min_relevance`.

The AxIoU paper (section 5; supplement, A.1) has two axioms about replacing the prediction at rank k by
a better one. INV-k: if an earlier one is as good, the value stays. MON-k: if the new one is better than all before it,
the value rises. With fixed p(k), INV-k holds, and MON-k too if some people reach rank k. With `err` neither holds.

Edge cases: a list shorter than K is filled up: the maximum stays, and with `err` nobody stops at an added rank. People
who read on after rank K add 0. A query without predictions or without relevant moments scores 0.

Worked example: IoUs .2, .6, .4 have the running maxima .2, .6, .6, so the value is 1.4/3. With `err` people stop with
probabilities .2, .8 * .6 and .8 * .4 * .4, so it is .04 + .288 + .0768. With 0.5,0.3,0.2 it is .1 + .18 + .12.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 4, 0.7]]}
>>> round(evaluate(truth, run, measures=["ncxiou@3"])["mean"]["ncxiou@3"], 4)
0.4667
>>> evaluate(truth, run, measures=["ncxiou@3"], abandonment="err")["mean"]
{'ncxiou@3': 0.4048}
>>> evaluate(truth, run, measures=["ncxiou@3"], abandonment=[0.5, 0.3, 0.2])["mean"]
{'ncxiou@3': 0.4}
"""

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.matching.discount import ERR, UNIFORM, probabilities, stop_chances
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure


def compute(matches: Matches, cutoffs: tuple[int, ...], _: tuple[float, ...]) -> Floats:
    """Return the value of NCxIoU for each cut-off and query, in [0, 1], shape (cut-offs, 1, queries).

    NCxIoU is the expected best IoU at the rank where a person stops reading.
    """
    values = np.empty((len(cutoffs), 1, matches.queries))
    for k, row in zip(cutoffs, values[:, 0], strict=True):
        stops, later = _stops(matches, k)
        row[:] = matches.total(stops * matches.best, k) + later * matches.last_best
    return values


def _stops(matches: Matches, k: int) -> tuple[Floats, Floats]:
    """Return how likely a reader is to stop at each prediction (P,), or after each query's last prediction (Q,).

    A reader who goes on after the last prediction may still stop at an empty rank up to `k`. The second array has the
    probability of this. It is 0 for a list of at least `k` predictions.
    """
    if matches.abandonment == ERR:
        return stop_chances(matches.query, matches.rank, matches.iou, matches.queries), np.zeros(matches.queries)
    if matches.abandonment == UNIFORM:
        return np.full(len(matches.rank), 1 / k), np.maximum(k - matches.size, 0) / k
    p = np.array(probabilities(matches.abandonment)[:k])
    within = np.minimum(matches.rank, len(p) - 1)
    before = np.concatenate([np.zeros(1), np.cumsum(p)])
    return np.where(matches.rank < len(p), p[within], 0.0), before[-1] - before[np.minimum(matches.size, len(p))]


MEASURE = Measure(
    "ncxiou",
    "NCxIoU",
    None,
    compute,
    "best IoU so far at the rank where a person stops, by the option abandonment (default uniform)",
    "AxIoU eq. 4",
    usual=False,
)
