"""DCG@K: the discounted sum of IoUs.

    DCG@K = sum over k = 1..K of g(r(k)) / log2(k + 1),  g(r) = r (`linear`) or 2**r - 1 (`exp2`)

Source: Togashi et al., AxIoU, CVPR 2022, supplement, equation 7. It is not normalised, so it may exceed 1. The paper
leaves gain and discount open: both must rise strictly. r(k) is the highest IoU of the k-th prediction with a truth
moment of its query and video whose relevance is at least `min_relevance`. Several predictions may hit the same moment.
This is not the numerator of NDCG@K, IoU>=mu, whose gains are relevances.

Edge cases: ranks beyond the end of a short list add nothing. A query without relevant moments scores 0.

Worked example: IoUs .2, .6, .4 give .2/1 + .6/log2(3) + .4/2.

>>> from backend.scoring.evaluate import evaluate
>>> truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 1}]}
>>> run = {"q": [["v", 0, 2, 0.9], ["v", 0, 6, 0.8], ["v", 0, 4, 0.7]]}
>>> evaluate(truth, run, measures=["dcg"], k=[1, 3])["mean"]
{'dcg@1': 0.2, 'dcg@3': 0.7785578521428744}
"""

from backend.core.timespan import Floats
from backend.scoring.matching.discount import discounted, gains_of
from backend.scoring.matching.found import Matches
from backend.scoring.measure import Measure


def compute(matches: Matches, cutoffs: tuple[int, ...], _: tuple[float, ...]) -> Floats:
    """Return the discounted sum of IoUs (DCG) for each rank cut-off and query, shape (cut-offs, 1, queries).

    Values are at least 0.
    """
    gains = gains_of(matches.iou, matches.gain)
    return discounted(matches.query, matches.rank, gains, matches.queries, cutoffs)[:, None]


MEASURE = Measure(
    "dcg", "DCG", None, compute, "discounted sum of IoUs, not normalised", "AxIoU suppl. eq. 7", highest=None
)
