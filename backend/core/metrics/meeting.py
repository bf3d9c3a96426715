"""Where a run's first K predictions meet the truth at one mu: who takes whom, and who only comes near.

The measures need sums alone; error analysis and case views need the pairs behind them.
"""

from dataclasses import dataclass

import numpy as np

from backend.core.metrics.columns import Indices
from backend.core.metrics.matching import Threshold, index_truth, match
from backend.core.metrics.presets import Settings
from backend.core.metrics.scoring import AnswerKey, RankedRun
from backend.core.timespan import Flags, Floats, decimal_fraction, iou_float64, overlap, reaches


@dataclass(frozen=True, slots=True)
class Meeting:
    """T truth moments in the order of `AnswerKey.truth`, P predictions of rank <= `k` in the order of the run.

    A prediction meets the truth moments of its query and video. IoUs are float64 in [0, 1] and for showing; NaN
    where nothing is met. `reached` and `reaches` compare with mu as the conventions of the evaluation say, so
    they are exact in preset `paper`.
    """

    k: int
    mu: float
    position: Indices
    """Place of each prediction in `RankedRun.run`, shape (P,)."""
    query: Indices
    """The truth's query number of each prediction, shape (P,)."""
    rank: Indices
    """From 1, shape (P,)."""
    takes: Indices
    """The truth moment that each prediction takes, -1 for none, shape (P,)."""
    best_iou: Floats
    """The highest IoU of each prediction with a truth moment, shape (P,)."""
    reaches: Flags
    """Whether a prediction reaches mu with any truth moment, taken or not, shape (P,)."""
    taken_at: Indices
    """Rank of the prediction that takes each truth moment, 0 for none, shape (T,)."""
    near_iou: Floats
    """The highest IoU of each truth moment with a prediction, shape (T,)."""
    reached: Flags
    """Whether a prediction reaches mu with each truth moment, shape (T,)."""


def meet(key: AnswerKey, ranked: RankedRun, settings: Settings, k: int, mu: float) -> Meeting:
    """Match a run's predictions of rank <= `k` at `mu`, by the settings' conventions; `k` is at most max(settings.k).

    >>> from backend.core.metrics.presets import settle
    >>> from backend.core.metrics.scoring import prepare_run, prepare_truth
    >>> from backend.core.runs import parse_run_mapping, parse_truth_mapping
    >>> settings = settle("paper", [2], [0.3], {})
    >>> key = prepare_truth(parse_truth_mapping({"q": [
    ...     {"video": "v1", "start": 12, "end": 19, "relevance": 4},
    ...     {"video": "v1", "start": 20, "end": 28, "relevance": 2}]}), settings)
    >>> run = prepare_run(parse_run_mapping({"q": [["v1", 9, 29, 1.0], ["v2", 0, 5, 0.5]]}), key, settings)
    >>> found = meet(key, run, settings, 2, 0.3)
    >>> found.takes.tolist(), found.taken_at.tolist(), found.near_iou.tolist()
    ([1, -1], [0, 1], [0.35, 0.4])
    """
    truth, options = key.truth, settings.conventions
    run = ranked.run
    rank = np.arange(len(run.video)) - np.repeat(run.offsets[:-1], np.diff(run.offsets)) + 1
    position = np.flatnonzero(rank <= k)
    query, video = ranked.truth_query[run.query[position]], ranked.truth_video[position]
    start_s, end_s = run.start_s[position], run.end_s[position]

    relevance = truth.relevance.astype(np.int64)
    able = np.flatnonzero((relevance > 0) | (options.zero_relevance == "absorb"))
    # Sorted as the index sorts, so that places in the index are places in `able`.
    able = able[np.lexsort((-relevance[able], truth.video[able], truth.query[able]))]
    # One more than the truth has, for whatever other videos the run names.
    videos = len(truth.videos) + 1
    columns = (truth.query[able], truth.video[able], truth.start_s[able], truth.end_s[able])
    index = index_truth(*columns, relevance[able], videos=videos)
    threshold = Threshold(strict=options.iou_compare == "gt", exact=options.arithmetic == "exact")
    taken = match(index, query, video, start_s, end_s, [mu], threshold)[0]
    takes = np.full(len(position), -1, dtype=np.int64)
    takes[taken >= 0] = able[taken[taken >= 0]]
    taken_at = np.zeros(len(truth.video), dtype=np.int64)
    taken_at[takes[takes >= 0]] = rank[position][takes >= 0]

    prediction, moment = _pairs(query * videos + video, truth.query[able] * videos + truth.video[able])
    moment = able[moment]
    spans = (start_s[prediction], end_s[prediction], truth.start_s[moment], truth.end_s[moment])
    iou = iou_float64(*spans)
    if threshold.exact:
        good = reaches(*overlap(*spans), decimal_fraction(mu), strict=threshold.strict)
    else:
        good = iou > mu if threshold.strict else iou >= mu
    best_iou, near_iou = np.full(len(position), np.nan), np.full(len(truth.video), np.nan)
    np.fmax.at(best_iou, prediction, iou)
    np.fmax.at(near_iou, moment, iou)
    reaching, reached = np.zeros(len(position), dtype=bool), np.zeros(len(truth.video), dtype=bool)
    reaching[prediction[good]] = True
    reached[moment[good]] = True
    return Meeting(k, mu, position, query, rank[position], takes, best_iou, reaching, taken_at, near_iou, reached)


def best_iou_of_queries(key: AnswerKey, found: Meeting) -> Floats:
    """For each truth query the highest IoU of its first K predictions with a truth moment, 0 where none is met."""
    best = np.zeros(len(key.truth.queries))
    np.fmax.at(best, found.query, found.best_iou)
    return best


def _pairs(prediction_key: Indices, truth_key: Indices) -> tuple[Indices, Indices]:
    """All (prediction, truth) places with equal keys; `truth_key` is sorted."""
    first = np.searchsorted(truth_key, prediction_key, side="left")
    size = np.searchsorted(truth_key, prediction_key, side="right") - first
    before = np.cumsum(size) - size
    truth = np.arange(size.sum()) + np.repeat(first - before, size)
    return np.repeat(np.arange(len(prediction_key)), size), truth
