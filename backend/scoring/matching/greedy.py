"""Match ranked predictions greedily and one-to-one with ground-truth moments (TVR-Ranking, section 4).

Go through a query's predictions in rank order. Each is matched with one of the query's truth moments in the same video
that are not matched yet: the one with the highest IoU, if that IoU reaches mu. Equal IoUs go to the higher relevance,
then to the earlier moment of the file. A truth moment of relevance 0 can be matched like any other.

The code does this without a loop over predictions. All predictions propose to their best truth moment at once. Every
truth moment keeps the proposer with the smallest rank, and the others move on to their next best moment. This is
deferred acceptance. All truth moments prefer predictions in the same order, so its only stable outcome is the greedy
one.

IoUs come as columns, in the arithmetic of the evaluation: whole numbers, or floating point as in published code.
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
    iou_hundredths,
    order_keys,
    overlap,
    reaches,
)
from backend.scoring.matching.columns import Grades, Indices, order_within

Arithmetic = Literal["exact", "float64", "float64_hull", "float32", "hundredths"]


class Ious(Protocol):
    """The IoUs of C pairs of moments, each in [0, 1]. All arrays that the methods return or take have shape (C,)."""

    @property
    def values(self) -> Floats:
        """The IoUs, each as the nearest float64."""

    @property
    def keys(self) -> Floats:
        """Numbers that sort like the IoUs, and that are equal exactly if the IoUs are equal."""

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Return whether each IoU is at least `level` (with `strict`: above it)."""

    def take(self, chosen: Indices | Flags) -> Self:
        """Return only the IoUs at the given indices, or where the given flags are true."""


@dataclass(frozen=True, slots=True)
class ExactIous:
    """IoUs as exact fractions `inter / union` of whole numbers.

    >>> ExactIous(np.array([7, 8]), np.array([20, 20])).reach(0.35, strict=True).tolist()
    [False, True]
    """

    inter: Integers
    union: Integers

    @property
    def values(self) -> Floats:
        """The correctly rounded quotients, however large the whole numbers are."""
        if int(self.union.max(initial=0)) < 2**53:
            return np.asarray(self.inter / self.union, dtype=np.float64)
        return np.asarray(self.inter.astype(object) / self.union.astype(object), dtype=np.float64)

    @property
    def keys(self) -> Floats:
        """Numbers that sort like the fractions, and that are equal exactly if the fractions are equal."""
        return order_keys(self.inter, self.union)

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Return whether each fraction is at least `level` (with `strict`: above it); 0.35 means exactly 35/100."""
        return reaches(self.inter, self.union, decimal_fraction(level), strict=strict)

    def take(self, chosen: Indices | Flags) -> "ExactIous":
        """Return only the IoUs at the given indices, or where the given flags are true."""
        return ExactIous(self.inter[chosen], self.union[chosen])


@dataclass(frozen=True, slots=True)
class FloatIous:
    """IoUs rounded to float64 and compared without any tolerance."""

    values: Floats

    @property
    def keys(self) -> Floats:
        """The IoUs themselves."""
        return self.values

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Return whether each IoU is at least (with `strict`: above) `level`."""
        return self.values > level if strict else self.values >= level

    def take(self, chosen: Indices | Flags) -> "FloatIous":
        """Return only the IoUs at the given indices, or where the given flags are true."""
        return FloatIous(self.values[chosen])


@dataclass(frozen=True, slots=True)
class SingleIous:
    """IoUs rounded to float32, and compared with levels that are rounded to float32 too.

    >>> SingleIous(np.array([np.float32(0.7)], dtype=np.float64)).reach(0.7, strict=False).tolist()
    [True]
    """

    values: Floats

    @property
    def keys(self) -> Floats:
        """The IoUs themselves."""
        return self.values

    def reach(self, level: float, *, strict: bool) -> Flags:
        """Return whether each IoU is at least (with `strict`: above) `level`."""
        rounded = float(np.float32(level))
        return self.values > rounded if strict else self.values >= rounded

    def take(self, chosen: Indices | Flags) -> "SingleIous":
        """Return only the IoUs at the given indices, or where the given flags are true."""
        return SingleIous(self.values[chosen])


def ious(
    start_s: Floats,
    end_s: Floats,
    other_start_s: Floats,
    other_end_s: Floats,
    *,
    arithmetic: Arithmetic,
    epsilon: float = 0.0,
) -> Ious:
    """Return the IoUs of C pairs of moments; times are in seconds, each array of shape (C,).

    `arithmetic` is `exact` (fractions of whole numbers), `float64`, `float64_hull` (divided by the time from the
    earlier start to the later end), `float32`, or `hundredths` (rounded to two decimals). `epsilon` seconds are added
    to each union, except in exact arithmetic.
    """
    spans = (start_s, end_s, other_start_s, other_end_s)
    if arithmetic == "exact":
        return ExactIous(*overlap(*spans))
    if arithmetic == "float64_hull":
        return FloatIous(iou_float64_hull(*spans, epsilon))
    if arithmetic == "float32":
        return SingleIous(iou_float32(*spans, epsilon))
    if arithmetic == "hundredths":
        return FloatIous(iou_hundredths(*spans, epsilon))
    return FloatIous(iou_float64(*spans, epsilon))


@dataclass(frozen=True, slots=True)
class TruthIndex:
    """T truth moments, sorted by query and video, then by falling relevance, then in file order.

    Attributes:
        videos: how far video numbers may go: all are below it. It makes `group_key` unique.
        start_s: starts in seconds, shape (T,).
        end_s: ends in seconds, shape (T,).
        relevance: relevances, shape (T,), as whole numbers if all are.
        group_key: `query * videos + video` of each group of moments with the same query and video.
        group_first: the index of the first moment of each group.
        group_size: the number of moments of each group.
    """

    videos: int
    start_s: Floats
    end_s: Floats
    relevance: Grades
    group_key: Indices
    group_first: Indices
    group_size: Indices


@dataclass(frozen=True, slots=True)
class Pairs:
    """C pairs of a prediction and a truth moment of the same query and video; each array has shape (C,).

    `prediction` has the index of each pair's prediction, and `truth` the index of its moment in a `TruthIndex`. Pairs
    are sorted by `prediction`, then by `truth`.
    """

    prediction: Indices
    truth: Indices
    iou: Ious

    def take(self, chosen: Indices | Flags) -> "Pairs":
        """Return only the pairs at the given indices, in that order, or the pairs where the given flags are true."""
        if chosen.dtype == bool:
            chosen = np.flatnonzero(chosen)
        return Pairs(self.prediction[chosen], self.truth[chosen], self.iou.take(chosen))


def index_truth(
    query: Indices, video: Indices, start_s: Floats, end_s: Floats, relevance: Grades, videos: int
) -> TruthIndex:
    """Sort truth moments by query, video and falling relevance, as `pair_up` needs them.

    The arrays have shape (T,). `videos` must exceed every video number of the truth and of the run.
    """
    key = query * videos + video
    order = order_within(key, -relevance)
    key = key[order]
    first = beginnings(key)
    size = np.diff(first, append=len(key))
    return TruthIndex(videos, start_s[order], end_s[order], relevance[order], key[first], first, size)


def pair_up(
    index: TruthIndex,
    query: Indices,
    video: Indices,
    start_s: Floats,
    end_s: Floats,
    *,
    arithmetic: Arithmetic,
    epsilon: float = 0.0,
) -> Pairs:
    """Return every pair of a prediction and a truth moment of the same query and video.

    Args:
        index: the truth moments, sorted by `index_truth`.
        query: the query of each prediction, numbered as in the truth, shape (P,). A query's predictions are in rank
            order.
        video: the video of each prediction, numbered as in the truth, shape (P,); `index.videos - 1` for an unknown
            one.
        start_s: starts in seconds, shape (P,).
        end_s: ends in seconds, shape (P,).
        arithmetic: the arithmetic in which IoUs are computed.
        epsilon: seconds that are added to each union.
    """
    prediction, truth = _same_video(index, query * index.videos + video)
    spans = (start_s[prediction], end_s[prediction], index.start_s[truth], index.end_s[truth])
    return Pairs(prediction, truth, ious(*spans, arithmetic=arithmetic, epsilon=epsilon))


def settle_pairs(pairs: Pairs, mu: Sequence[float], *, strict: bool) -> list[tuple[Indices, Indices]]:
    """Match predictions one-to-one with truth moments at each IoU threshold in `mu`.

    With `strict`, an IoU must exceed the threshold; otherwise it must reach it.

    Returns:
        For each threshold, the indices of the matched predictions, ascending, and those of their truth moments.
    """
    # A pair below the lowest mu cannot match. Dropping these first leaves little to sort.
    near = pairs.take(pairs.iou.reach(min(mu), strict=False))
    # Equal IoUs keep the order of the index: relevance, then file.
    near = near.take(order_within(near.prediction, -near.iou.keys))
    result = []
    for level in mu:
        good = near.iou.reach(level, strict=strict)
        result.append(_settle(near.prediction[good], near.truth[good]))
    return result


def _same_video(index: TruthIndex, key: Indices) -> tuple[Indices, Indices]:
    """Return the prediction and the truth moment of each pair of one query and video, as two arrays of indices.

    `key` is `query * videos + video` for each prediction. Pairs are sorted by prediction, then by truth moment.
    """
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
    """Match predictions with truth moments by deferred acceptance.

    `prediction` and `truth` hold the two sides of each allowed pair. Pairs are sorted by prediction, then by falling
    IoU.

    Returns:
        The matched predictions, and the truth moment of each.
    """
    if not len(prediction):
        return prediction, truth
    first = beginnings(prediction)
    last = np.append(first[1:], len(prediction))
    choice = first.copy()
    lowest, nobody = int(truth.min()), len(first)
    holder = np.full(int(truth.max()) - lowest + 1, nobody)
    proposer = np.arange(nobody)
    while len(proposer):
        moment = truth[choice[proposer]] - lowest
        current = holder[moment]
        # If several values go to one place, NumPy keeps the last: written backwards, that of the smallest rank.
        holder[moment[::-1]] = np.minimum(current, proposer)[::-1]
        won = holder[moment] == proposer
        refused = np.sort(np.concatenate([proposer[~won], current[won & (current != nobody)]]))
        choice[refused] += 1
        proposer = refused[choice[refused] < last[refused]]
    taken = np.full(nobody, -1)
    matched_moment = np.flatnonzero(holder != nobody)
    taken[holder[matched_moment]] = matched_moment + lowest
    matched = np.flatnonzero(taken >= 0)
    return prediction[first[matched]], taken[matched]


def beginnings(groups: Indices) -> Indices:
    """Return the index of the first of each run of equal neighbours.

    >>> beginnings(np.array([0, 0, 2])).tolist()
    [0, 2]
    """
    fresh = np.ones(len(groups), dtype=bool)
    fresh[1:] = groups[1:] != groups[:-1]
    return np.flatnonzero(fresh)
