"""Match a run's first K predictions with the truth at one mu: who takes whom, and who only comes near.

The measures need sums alone; error analysis and case views need the pairs behind them.
"""

from dataclasses import dataclass

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices, Truth, order_within
from backend.scoring.matching.greedy import pair_up, settle_pairs
from backend.scoring.presets import Settings
from backend.scoring.scores import AnswerKey, RankedRun


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

    >>> from backend.scoring.presets import settle
    >>> from backend.scoring.scores import prepare_run, prepare_truth
    >>> from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
    >>> settings = settle("paper", [2], [0.3], {})
    >>> key = prepare_truth(parse_truth_mapping({"q": [
    ...     {"video": "v1", "start": 12, "end": 19, "relevance": 4},
    ...     {"video": "v1", "start": 20, "end": 28, "relevance": 2}]}), settings)
    >>> run = prepare_run(parse_run_mapping({"q": [["v1", 9, 29, 1.0], ["v2", 0, 5, 0.5]]}), key, settings)
    >>> found = meet(key, run, settings, 2, 0.3)
    >>> found.takes.tolist(), found.taken_at.tolist(), found.near_iou.tolist()
    ([1, -1], [0, 1], [0.35, 0.4])
    """
    truth, run, options = key.truth, ranked.run, settings.conventions
    rank = np.arange(len(run.video)) - np.repeat(run.offsets[:-1], np.diff(run.offsets)) + 1
    position = np.flatnonzero(rank <= k)
    rank, query = rank[position], ranked.truth_query[run.query[position]]
    columns = (query, ranked.truth_video[position], run.start_s[position], run.end_s[position])
    pairs = pair_up(key.index, *columns, arithmetic=options.arithmetic)
    strict = options.iou_compare == "gt"
    moment_at = _index_order(truth, options.zero_relevance == "absorb")

    taker, taken = settle_pairs(pairs, [mu], strict=strict)[0]
    takes = np.full(len(position), -1, dtype=np.int64)
    takes[taker] = moment_at[taken]
    taken_at = np.zeros(len(truth.video), dtype=np.int64)
    taken_at[moment_at[taken]] = rank[taker]

    moment, iou, good = moment_at[pairs.truth], pairs.iou.values, pairs.iou.reach(mu, strict=strict)
    best_iou, near_iou = np.full(len(position), np.nan), np.full(len(truth.video), np.nan)
    np.fmax.at(best_iou, pairs.prediction, iou)
    np.fmax.at(near_iou, moment, iou)
    reaching, reached = np.zeros(len(position), dtype=bool), np.zeros(len(truth.video), dtype=bool)
    reaching[pairs.prediction[good]] = True
    reached[moment[good]] = True
    return Meeting(k, mu, position, query, rank, takes, best_iou, reaching, taken_at, near_iou, reached)


def best_iou_of_queries(key: AnswerKey, found: Meeting) -> Floats:
    """For each truth query the highest IoU of its first K predictions with a truth moment, 0 where none is met."""
    best = np.zeros(len(key.truth.queries))
    np.fmax.at(best, found.query, found.best_iou)
    return best


def _index_order(truth: Truth, absorb: bool) -> Indices:
    """The truth moment at each place of `AnswerKey.index`, which is sorted by query, video and falling relevance."""
    relevance = truth.relevance.astype(np.int64)
    able = np.flatnonzero((relevance > 0) | absorb)
    return able[order_within(truth.query[able] * len(truth.videos) + truth.video[able], -relevance[able])]
