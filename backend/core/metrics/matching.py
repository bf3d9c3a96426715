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
from numpy.typing import NDArray

from backend.core.timespan import Floats, decimal_fraction, iou_float64, order_keys, overlap, reaches

Indices = NDArray[np.int64]


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
class Threshold:
    """What counts as a match: `strict` asks for IoU > mu instead of >=; `exact` for whole-number arithmetic."""

    strict: bool
    exact: bool


def index_truth(
    query: Indices, video: Indices, start_s: Floats, end_s: Floats, relevance: Indices, videos: int
) -> TruthIndex:
    """Sort truth columns, each of shape (T,), for `match`; `videos` exceeds every video number, also a run's."""
    order = np.lexsort((-relevance, video, query))
    key = (query * videos + video)[order]
    group_key, first, size = np.unique(key, return_index=True, return_counts=True)
    return TruthIndex(videos, start_s[order], end_s[order], relevance[order], group_key, first, size)


def match(
    index: TruthIndex,
    query: Indices,
    video: Indices,
    start_s: Floats,
    end_s: Floats,
    mu: Sequence[float],
    threshold: Threshold,
) -> Indices:
    """The truth moment that each prediction takes at each mu.

    Args:
        index: the truth.
        query: the truth's query number of each prediction, shape (P,); a query's predictions in rank order.
        video: video numbers as in the index, shape (P,); `index.videos - 1` for a video the truth lacks.
        start_s: starts in seconds, shape (P,).
        end_s: ends in seconds, shape (P,).
        mu: IoU thresholds, M of them.
        threshold: how IoU and mu are compared.

    Returns:
        Positions in the index, shape (M, P); -1 where a prediction takes nothing.
    """
    prediction, truth = _same_video_pairs(index, query * index.videos + video)
    spans = (start_s[prediction], end_s[prediction], index.start_s[truth], index.end_s[truth])
    if threshold.exact:
        inter, union = overlap(*spans)
        # Below the lowest mu a pair cannot match; dropping those first leaves little to sort.
        near = reaches(inter, union, decimal_fraction(min(mu)), strict=False)
        inter, union = inter[near], union[near]
        iou = order_keys(inter, union)
        accepted = [reaches(inter, union, decimal_fraction(m), strict=threshold.strict) for m in mu]
    else:
        iou = iou_float64(*spans)
        near = iou >= min(mu)
        iou = iou[near]
        accepted = [iou > m if threshold.strict else iou >= m for m in mu]
    prediction, truth = prediction[near], truth[near]
    # Stable, so equal IoUs keep the order of the index: relevance, then file.
    order = np.lexsort((-iou, prediction))
    prediction, truth = prediction[order], truth[order]
    taken = np.full((len(mu), len(query)), -1, dtype=np.int64)
    for row, allowed in zip(taken, accepted, strict=True):
        good = allowed[order]
        _settle(prediction[good], truth[good], len(index.relevance), row)
    return taken


def _same_video_pairs(index: TruthIndex, key: Indices) -> tuple[Indices, Indices]:
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


def _settle(prediction: Indices, truth: Indices, truths: int, taken: Indices) -> None:
    """Deferred acceptance over preference lists: `truth` in order of preference for each `prediction`."""
    if not len(prediction):
        return
    proposer, first = np.unique(prediction, return_index=True)
    last = np.append(first[1:], len(prediction))
    choice = first.astype(np.int64)
    nobody = len(taken)
    while True:
        open_ = np.flatnonzero(choice < last)
        wanted = truth[choice[open_]]
        holder = np.full(truths, nobody, dtype=np.int64)
        np.minimum.at(holder, wanted, proposer[open_])
        refused = open_[holder[wanted] != proposer[open_]]
        if not len(refused):
            taken[proposer[open_]] = wanted
            return
        choice[refused] += 1
