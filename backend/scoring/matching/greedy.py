"""Greedy one-to-one matching of ranked predictions to ground-truth moments (TVR-Ranking, section 4).

Walk a query's predictions in rank order; each takes, among the query's unmatched truth moments of the same
video, the one of highest IoU, if that IoU reaches mu. Ties in IoU go to the higher relevance, then to the
earlier moment of the file. A truth moment of relevance 0 takes a prediction like any other.

Nothing is walked here: all predictions propose to their best truth moment at once, every truth moment keeps
its proposer of smallest rank, the others move on to their next best. That is deferred acceptance; as all truth
moments agree on the order of the predictions, its only stable outcome is the greedy one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices, order_within
from backend.scoring.matching.ious import Arithmetic, Ious, ious


@dataclass(frozen=True, slots=True)
class TruthIndex:
    """Truth moments, shape (T,), sorted by (query, video), then relevance downwards, then file order.

    `key` is `query * videos + video`; `group_*` give, for each different key, its first moment and how many.
    """

    videos: int
    start_s: Floats
    end_s: Floats
    relevance: Indices
    group_key: Indices
    group_first: Indices
    group_size: Indices


@dataclass(frozen=True, slots=True)
class Pairs:
    """C couples of a prediction and a truth moment of the same query and video, each array of shape (C,).

    Sorted by `prediction`, its number among the predictions; then by `truth`, its place in the index.
    """

    prediction: Indices
    truth: Indices
    iou: Ious

    def take(self, chosen: Indices | Flags) -> "Pairs":
        """Only the chosen ones, in the order chosen."""
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return Pairs(self.prediction[chosen], self.truth[chosen], self.iou.take(chosen))


def index_truth(
    query: Indices, video: Indices, start_s: Floats, end_s: Floats, relevance: Indices, videos: int
) -> TruthIndex:
    """Sort truth columns, each of shape (T,), for `pair_up`; `videos` exceeds every video number, also a run's."""
    key = query * videos + video
    order = order_within(key, -relevance)
    key = key[order]
    first = beginnings(key)
    size = np.diff(first, append=len(key))
    return TruthIndex(videos, start_s[order], end_s[order], relevance[order], key[first], first, size)


def pair_up(
    index: TruthIndex, query: Indices, video: Indices, start_s: Floats, end_s: Floats, *, arithmetic: Arithmetic
) -> Pairs:
    """All couples of a prediction and a truth moment that could meet.

    Args:
        index: the truth.
        query: the truth's query number of each prediction, shape (P,); a query's predictions in rank order.
        video: video numbers as in the index, shape (P,); `index.videos - 1` for a video the truth lacks.
        start_s: starts in seconds, shape (P,).
        end_s: ends in seconds, shape (P,).
        arithmetic: in which IoUs are computed.
    """
    prediction, truth = _same_video(index, query * index.videos + video)
    spans = (start_s[prediction], end_s[prediction], index.start_s[truth], index.end_s[truth])
    return Pairs(prediction, truth, ious(*spans, arithmetic=arithmetic))


def settle_pairs(pairs: Pairs, mu: Sequence[float], *, strict: bool) -> list[tuple[Indices, Indices]]:
    """Who takes whom at each mu: predictions, in their order, and the truth moment of each."""
    # Below the lowest mu a pair cannot match; dropping those first leaves little to sort.
    near = pairs.take(pairs.iou.reach(min(mu), strict=False))
    # Equal IoUs keep the order of the index: relevance, then file.
    near = near.take(order_within(near.prediction, -near.iou.keys))
    result = []
    for level in mu:
        good = near.iou.reach(level, strict=strict)
        result.append(_settle(near.prediction[good], near.truth[good]))
    return result


def _same_video(index: TruthIndex, key: Indices) -> tuple[Indices, Indices]:
    """All (prediction, truth) pairs of one query and video, in the order of predictions, then of the index."""
    if not len(index.group_key):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    group = np.minimum(np.searchsorted(index.group_key, key), len(index.group_key) - 1)
    prediction = np.flatnonzero(index.group_key[group] == key)
    group = group[prediction]
    size = index.group_size[group]
    before = np.cumsum(size) - size
    truth = np.arange(size.sum()) + np.repeat(index.group_first[group] - before, size)
    return np.repeat(prediction, size), truth


def _settle(prediction: Indices, truth: Indices) -> tuple[Indices, Indices]:
    """Deferred acceptance over preference lists: `truth` in order of preference for each `prediction`, sorted."""
    if not len(prediction):
        return prediction, truth
    first = beginnings(prediction)
    last = np.append(first[1:], len(prediction))
    choice = first.copy()
    lowest, nobody = int(truth.min()), len(first)
    holder = np.full(int(truth.max()) - lowest + 1, nobody)
    proposer = np.arange(nobody)
    while len(proposer):
        wanted = truth[choice[proposer]] - lowest
        held_by = holder[wanted]
        # Of several values for one place the last stays: written backwards, that of the smallest rank.
        holder[wanted[::-1]] = np.minimum(held_by, proposer)[::-1]
        won = holder[wanted] == proposer
        refused = np.sort(np.concatenate([proposer[~won], held_by[won & (held_by != nobody)]]))
        choice[refused] += 1
        proposer = refused[choice[refused] < last[refused]]
    taken = np.full(nobody, -1)
    held = np.flatnonzero(holder != nobody)
    taken[holder[held]] = held + lowest
    matched = np.flatnonzero(taken >= 0)
    return prediction[first[matched]], taken[matched]


def beginnings(groups: Indices) -> Indices:
    """Where each stretch of equal numbers begins.

    >>> beginnings(np.array([0, 0, 2])).tolist()
    [0, 2]
    """
    fresh = np.ones(len(groups), dtype=bool)
    fresh[1:] = groups[1:] != groups[:-1]
    return np.flatnonzero(fresh)
