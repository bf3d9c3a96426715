"""Classify each relevant truth moment by its fate in a run: found in place, found too low, or missed, and why.

This classification is ours, not a paper's. It is made for one K and one mu. The predictions of rank <= K are matched,
each with at most one truth moment of its query, and their IoU has to reach mu. A prediction "takes" the moment that it
is matched with. The fate of a query's relevant truth moment g of relevance r is the first of these that holds:

    no predictions   the run has no prediction for the query
    in place         a prediction of rank <= K takes g, at a rank that is at most the number of the query's moments
                     of relevance >= r: an ideal ranking has a moment at least as relevant there
    wrong rank       a prediction of rank <= K takes g, but further down than that
    match taken      a prediction of rank <= K reaches mu with g, but was matched with another moment
    wrong time       a prediction of rank <= K lies in g's video, but none reaches mu with g
    wrong video      no prediction of rank <= K lies in g's video

Moments with the fates `wrong time`, `wrong video` and `no predictions` were never found. If K is at least the number
of a query's relevant moments, its NDCG@K is 1 exactly if all of them are in place. With a smaller K some moments must
be missed, so choose a K that is large enough when you read the shares.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from backend.core.messages import said
from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Grades, Indices, Truth, order_within
from backend.scoring.matching.greedy import pair_up, settle_pairs
from backend.scoring.presets import Settings
from backend.scoring.scores import AnswerKey, RankedRun


@dataclass(frozen=True, slots=True)
class Meeting:
    """The matching of P predictions of rank <= `k` with T truth moments, at one IoU threshold `mu`.

    Predictions are in the order of the run, and truth moments in the order of `AnswerKey.truth`, the truth prepared for
    scoring. A prediction is compared with the truth moments of the same query and video, and "takes" the one that it is
    matched with. IoUs are float64 in [0, 1], for display. They are NaN if there is nothing to compare with.

    `reaches`, `reached` and the matching compare IoUs as the evaluation does: with exact fractions in preset `paper`.

    Arrays from `position` to `reaches` have the shape (P,); the other three have the shape (T,).

    Attributes:
        position: the position of each prediction in `RankedRun.run`, from 0.
        query: the number of its query in the truth.
        rank: its rank, from 1.
        takes: the index of the truth moment that it takes, or -1.
        best_iou: its highest IoU with a truth moment.
        reaches: whether it reaches mu with any truth moment, taken or not.
        taken_at: the rank of the prediction that takes each truth moment, or 0.
        near_iou: the moment's highest IoU with a prediction.
        reached: whether any prediction reaches mu with the moment.
    """

    k: int
    mu: float
    position: Indices
    query: Indices
    rank: Indices
    takes: Indices
    best_iou: Floats
    reaches: Flags
    taken_at: Indices
    near_iou: Floats
    reached: Flags


def meet(key: AnswerKey, ranked: RankedRun, settings: Settings, k: int, mu: float) -> Meeting:
    """Match a run's predictions of rank <= `k` with truth moments, at the IoU threshold `mu`.

    The conventions of `settings` decide how IoUs are computed and compared. `k` is at most the highest cut-off in
    `settings`. `key` is the truth, prepared for scoring.

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
    pairs = pair_up(key.index, *columns, arithmetic=options.arithmetic, epsilon=options.iou_epsilon)
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


def best_iou_of_queries(key: AnswerKey, meeting: Meeting) -> Floats:
    """Return the highest IoU between a truth moment and one of the first K predictions, for each query of the truth.

    It is 0 for a query whose predictions all lie in videos without a truth moment of the query.
    """
    best = np.zeros(len(key.truth.queries))
    np.fmax.at(best, meeting.query, meeting.best_iou)
    return best


def _index_order(truth: Truth, absorb: bool) -> Indices:
    """Return the positions in the truth of its moments, sorted by query, video and falling relevance.

    `AnswerKey.index`, by which predictions are matched, has the moments in this order. Moments of relevance 0 are left
    out unless `absorb` is true.
    """
    relevance = truth.grades
    able = np.flatnonzero((relevance > 0) | absorb)
    return able[order_within(truth.query[able] * len(truth.videos) + truth.video[able], -relevance[able])]


class Fate(StrEnum):
    """What became of a relevant truth moment in a run: found or missed, and why.

    The values are `in place`, `wrong rank` (found too far down), `match taken` (its prediction was matched with another
    moment), `wrong time`, `wrong video` and `no predictions`.
    """

    IN_PLACE = "in place"
    WRONG_RANK = "wrong rank"
    TAKEN = "match taken"
    WRONG_TIME = "wrong time"
    WRONG_VIDEO = "wrong video"
    NO_PREDICTIONS = "no predictions"


FATES = tuple(Fate)
WORDS = {
    Fate.IN_PLACE: said("in place"),
    Fate.WRONG_RANK: said("wrong rank"),
    Fate.TAKEN: said("match taken"),
    Fate.WRONG_TIME: said("wrong time"),
    Fate.WRONG_VIDEO: said("wrong video"),
    Fate.NO_PREDICTIONS: said("no predictions"),
}
"""The fates as screens show them."""
MEANINGS = {
    Fate.IN_PLACE: said("found, at a rank where an ideal ranking has a moment at least as relevant"),
    Fate.WRONG_RANK: said("right moment, wrong rank: found, but further down"),
    Fate.TAKEN: said("a prediction reaches it, but was matched with another moment"),
    Fate.WRONG_TIME: said("right video, wrong time: no prediction in its video reaches it"),
    Fate.WRONG_VIDEO: said("no prediction lies in its video"),
    Fate.NO_PREDICTIONS: said("the run has no prediction for the query"),
}

NEVER_FOUND = (Fate.WRONG_TIME, Fate.WRONG_VIDEO, Fate.NO_PREDICTIONS)


@dataclass(frozen=True, slots=True)
class FateExample:
    """A truth moment as an example of its fate.

    `moment` is its position in the truth. `rank` is the rank of the prediction matched with it, or 0 if there is none.
    `iou` is its highest IoU with a prediction, NaN if no prediction is in its video.
    """

    fate: Fate
    moment: int
    rank: int
    iou: float


@dataclass(frozen=True, slots=True)
class FateCounts:
    """How many relevant truth moments were found in place, found at a wrong rank, or missed, and why they were missed.

    The predictions up to rank `k` are matched with moments at the IoU threshold `mu`. `counts` has a row for each
    `Fate` and a column for each of `grades`, all relevances of the truth's scale, rising. `examples` are moments that
    show typical errors.
    """

    k: int
    mu: float
    grades: Grades
    counts: Indices
    examples: tuple[FateExample, ...]

    @property
    def moments(self) -> int:
        """The number of all relevant truth moments."""
        return int(self.counts.sum())

    def total(self, *fates: Fate) -> int:
        """Return the number of moments with these fates, of any relevance."""
        return int(sum(self.counts[FATES.index(fate)].sum() for fate in fates))


def places(truth: Truth) -> Indices:
    """Return, for each moment, how many moments of its query are at least as relevant, itself included; shape (T,).

    >>> from backend.scoring.files.entries import parse_truth_mapping
    >>> moments = [{"video": "v", "start": 0, "end": 1, "relevance": r} for r in (2, 4, 2, 0)]
    >>> places(parse_truth_mapping({"q": moments})).tolist()
    [3, 1, 3, 4]
    """
    relevance = truth.grades
    order = order_within(truth.query, -relevance)
    query, relevance = truth.query[order], relevance[order]
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (query[1:] != query[:-1]) | (relevance[1:] != relevance[:-1])
    first = np.flatnonzero(fresh)
    size = np.diff(first, append=len(order))
    at_least = np.empty(len(order), dtype=np.int64)
    at_least[order] = np.repeat(first + size, size) - truth.offsets[query]
    return at_least


def fates(key: AnswerKey, meeting: Meeting, min_relevance: float = 1) -> Indices:
    """Return each truth moment's fate as an index of `FATES` (all `Fate` values), shape (T,).

    It is -1 for a moment whose relevance is below `min_relevance`.
    """
    truth = key.truth
    answered = np.zeros(len(truth.queries), dtype=bool)
    answered[meeting.query] = True
    conditions = (
        (Fate.NO_PREDICTIONS, ~answered[truth.query]),
        (Fate.IN_PLACE, (meeting.taken_at > 0) & (meeting.taken_at <= places(truth))),
        (Fate.WRONG_RANK, meeting.taken_at > 0),
        (Fate.TAKEN, meeting.reached),
        (Fate.WRONG_TIME, ~np.isnan(meeting.near_iou)),
    )
    fate = np.select(
        [condition for _, condition in conditions],
        [FATES.index(name) for name, _ in conditions],
        default=FATES.index(Fate.WRONG_VIDEO),
    )
    return np.where(truth.relevance >= min_relevance, fate, -1).astype(np.int64)


def count_fates(key: AnswerKey, meeting: Meeting, min_relevance: float = 1, examples: int = 3) -> FateCounts:
    """Count relevant truth moments by fate and relevance, and pick up to `examples` bad cases of each kind of error.

    Moments of higher relevance are picked first. Among equally relevant ones, those found further down the list, or
    with a smaller highest IoU, come first. Remaining ties keep the order of the truth.
    """
    truth = key.truth
    fate, relevance, scale = fates(key, meeting, min_relevance), truth.relevance, truth.scale
    counts = np.zeros((len(FATES), len(scale)), dtype=np.int64)
    relevant = np.flatnonzero(fate >= 0)
    np.add.at(counts, (fate[relevant], np.searchsorted(scale, relevance[relevant])), 1)
    worst: list[FateExample] = []
    for number, name in enumerate(FATES):
        if name is Fate.IN_PLACE:
            continue
        members = np.flatnonzero(fate == number)
        severity = np.nan_to_num(meeting.near_iou[members]) - meeting.taken_at[members]
        for moment in members[np.lexsort((severity, -relevance[members]))][:examples].tolist():
            worst.append(FateExample(name, moment, int(meeting.taken_at[moment]), float(meeting.near_iou[moment])))
    return FateCounts(meeting.k, meeting.mu, scale, counts, tuple(worst))
