"""Greedy one-to-one matching of ranked predictions to ground-truth moments (TVR-Ranking, section 4).

Walk a query's predictions in rank order; each takes, among the query's unmatched truth moments of the same
video, the one of highest IoU, if that IoU reaches mu. Ties in IoU go to the higher relevance, then to the
earlier moment of the file. A truth moment of relevance 0 takes a prediction like any other.

Nothing is walked here: all predictions propose to their best truth moment at once, every truth moment keeps
its proposer of smallest rank, the others move on to their next best. That is deferred acceptance; as all truth
moments agree on the order of the predictions, its only stable outcome is the greedy one.

IoUs come as columns, in the arithmetic of the evaluation: whole numbers, or floating point as published code has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np

from backend.core.timespan import (
    Flags,
    Floats,
    Integers,
    decimal_fraction,
    iou_float32,
    iou_float64,
    iou_float64_hull,
    order_keys,
    overlap,
    reaches,
)
from backend.scoring.matching.columns import Indices, order_within

Arithmetic = Literal["exact", "float64", "float64_hull", "float32"]


class Ious(Protocol):
    """C IoUs, each in [0, 1]; every array below has shape (C,)."""

    @property
    def values(self) -> Floats:
        """The IoUs themselves, the nearest float64 of each."""

    @property
    def keys(self) -> Floats:
        """Numbers that sort like the IoUs and are equal exactly where they are."""

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Whether each IoU is at least `level`, or above it where `strict`."""

    def take(self, chosen: Indices | Flags) -> Self:
        """Only the chosen ones."""


@dataclass(frozen=True, slots=True)
class ExactIous:
    """`inter / union` of whole numbers.

    >>> ExactIous(np.array([7, 8]), np.array([20, 20])).reach(0.35, strict=True).tolist()
    [False, True]
    """

    inter: Integers
    union: Integers

    @property
    def values(self) -> Floats:
        """The correctly rounded quotients, whatever the size of the integers."""
        if int(self.union.max(initial=0)) < 2**53:
            return np.asarray(self.inter / self.union, dtype=np.float64)
        return np.asarray(self.inter.astype(object) / self.union.astype(object), dtype=np.float64)

    @property
    def keys(self) -> Floats:
        """Numbers that sort like the fractions and are equal exactly where they are."""
        return order_keys(self.inter, self.union)

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Whether each fraction is at least (`strict`: above) the decimal that `level` prints as."""
        return reaches(self.inter, self.union, decimal_fraction(level), strict=strict)

    def take(self, chosen: Indices | Flags) -> "ExactIous":
        """Only the chosen ones."""
        return ExactIous(self.inter[chosen], self.union[chosen])


@dataclass(frozen=True, slots=True)
class FloatIous:
    """Rounded IoUs, compared as they are."""

    values: Floats

    @property
    def keys(self) -> Floats:
        """The IoUs themselves."""
        return self.values

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Whether each is at least (`strict`: above) `level`."""
        return self.values > level if strict else self.values >= level

    def take(self, chosen: Indices | Flags) -> "FloatIous":
        """Only the chosen ones."""
        return FloatIous(self.values[chosen])


@dataclass(frozen=True, slots=True)
class SingleIous:
    """IoUs rounded to float32, compared with levels that are rounded to it too.

    >>> SingleIous(np.array([np.float32(0.7)], dtype=np.float64)).reach(0.7, strict=False).tolist()
    [True]
    """

    values: Floats

    @property
    def keys(self) -> Floats:
        """The IoUs themselves."""
        return self.values

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Whether each is at least (`strict`: above) `level`."""
        rounded = float(np.float32(level))
        return self.values > rounded if strict else self.values >= rounded

    def take(self, chosen: Indices | Flags) -> "SingleIous":
        """Only the chosen ones."""
        return SingleIous(self.values[chosen])


def ious(start_s: Floats, end_s: Floats, other_start_s: Floats, other_end_s: Floats, *, arithmetic: Arithmetic) -> Ious:
    """IoUs of C couples of moments, times in seconds, shape (C,) each."""
    if arithmetic == "exact":
        return ExactIous(*overlap(start_s, end_s, other_start_s, other_end_s))
    if arithmetic == "float64_hull":
        return FloatIous(iou_float64_hull(start_s, end_s, other_start_s, other_end_s))
    if arithmetic == "float32":
        return SingleIous(iou_float32(start_s, end_s, other_start_s, other_end_s))
    return FloatIous(iou_float64(start_s, end_s, other_start_s, other_end_s))


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
