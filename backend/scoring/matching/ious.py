"""Columns of IoUs in the arithmetics of an evaluation: whole numbers, or floating point as published code has it."""

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
from backend.scoring.matching.columns import Indices

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
