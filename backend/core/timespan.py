"""Compute the overlap of half-open time spans `[start_s, end_s)`, in float64 and exactly.

Times are float64 seconds. The exact functions read each as the decimal that `repr` prints, which is the text in the
file: 26.68 means 2668/100, not the nearest binary fraction. Otherwise moments whose IoU is exactly a threshold would
fall on either side of it at random.
"""

from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64] | NDArray[np.object_]
"""int64 if every intermediate result fits, else Python integers (dtype object)."""
Flags = NDArray[np.bool_]

_MILLISECONDS = 3
"""Number of decimals of the usual lattice; published annotations have at most two."""
_SAFE_DECIMAL = 10**15
"""Below this a float64 and its decimal text with that many digits determine each other."""
_EXACT = Context(prec=20)
"""A float64 has at most 17 significant digits."""
_SAFE_TIME = 2**61
"""Lengths of times below this, and sums of two of them, fit into int64."""
_LARGEST_FLOAT = 2**1000
_NEAR = 2.0**-50
"""An upper bound of the relative error of a quotient after three roundings."""
_SAFE_SPAN = 2**26
"""Quotients of different fractions with terms below this differ as float64 (1/(ad) > 2**-52)."""


@lru_cache(maxsize=1024)
def decimal_fraction(value: float) -> Fraction:
    """Return the exact number that the shortest decimal text of `value` denotes.

    >>> decimal_fraction(0.3)
    Fraction(3, 10)
    """
    return Fraction(repr(float(value)))


def iou_float64(start: Floats, end: Floats, other_start: Floats, other_end: Floats, epsilon: float = 0.0) -> Floats:
    """Return the intersection over union in float64, element by element, in [0, 1].

    The order of operations, `inter / ((e - s) + (e' - s') - inter)`, is that of the published TVR-Ranking
    evaluator, because any other order gives other last bits. Unions that are undefined or not positive (empty,
    reversed or NaN spans) give 0. `epsilon` seconds are added to the union, as some evaluators do.

    >>> s, e = np.array([9.0]), np.array([29.0])
    >>> iou_float64(s, e, np.array([20.0]), np.array([28.0]))
    array([0.4])
    """
    with np.errstate(invalid="ignore"):
        inter = np.maximum(0.0, np.minimum(end, other_end) - np.maximum(start, other_start))
        union = (end - start) + (other_end - other_start) - inter
        result = np.zeros(len(union))
        np.divide(inter, union + epsilon if epsilon else union, out=result, where=union > 0)
    return result


def iou_float64_hull(
    start: Floats, end: Floats, other_start: Floats, other_end: Floats, epsilon: float = 0.0
) -> Floats:
    """Return the intersection divided by the hull, the time from the earlier start to the later end, in [0, 1].

    This is computed in float64, element by element, as in the evaluators of Charades-STA (TALL, LGI, 2D-TAN) and
    QVHighlights (its R1). The hull of two overlapping spans is their union. It is computed by another formula than in
    `iou_float64`, so the last bits differ. Empty or undefined hulls give 0. `epsilon` seconds are added to the hull.

    >>> spans = [np.array([time]) for time in (44.35, 80.89, 31.88, 84.08)]
    >>> bool(iou_float64(*spans)[0] >= 0.7), bool(iou_float64_hull(*spans)[0] >= 0.7)
    (False, True)
    """
    with np.errstate(invalid="ignore"):
        inter = np.maximum(0.0, np.minimum(end, other_end) - np.maximum(start, other_start))
        hull = np.maximum(end, other_end) - np.minimum(start, other_start)
        result = np.zeros(len(hull))
        np.divide(inter, hull + epsilon if epsilon else hull, out=result, where=hull > 0)
    return result


def iou_hundredths(start: Floats, end: Floats, other_start: Floats, other_end: Floats, epsilon: float = 0.0) -> Floats:
    """Return the intersection over union of spans, element by element, rounded to two decimals by Python's `round`.

    Before rounding, it is the result of `iou_float64_hull`.

    This follows the evaluator of VTimeLLM, which rounds before it compares: an IoU of 0.4955 counts as 0.5.

    >>> spans = [np.array([time]) for time in (0, 99.1, 0, 200)]
    >>> iou_float64_hull(*spans).tolist(), iou_hundredths(*spans).tolist()
    ([0.4955], [0.5])
    """
    exact = iou_float64_hull(start, end, other_start, other_end, epsilon)
    return np.array([round(value, 2) for value in exact.tolist()], dtype=np.float64)


def iou_float32(start: Floats, end: Floats, other_start: Floats, other_end: Floats, epsilon: float = 0.0) -> Floats:
    """Return the intersection over union computed in float32, element by element, in [0, 1].

    This follows the evaluators of TVR, MMN and MVMR. All times are rounded to float32, and the union is the time from
    the earlier start to the later end. Unions that are undefined or not positive give 0. `epsilon` seconds are added to
    the union.

    >>> s, e = np.array([9.0]), np.array([29.0])
    >>> iou_float32(s, e, np.array([20.0]), np.array([28.0])) == np.float32(0.4)
    array([ True])
    """
    times = (time.astype(np.float32) for time in (start, end, other_start, other_end))
    first, last, other_first, other_last = times
    with np.errstate(invalid="ignore"):
        inter = np.maximum(np.float32(0), np.minimum(last, other_last) - np.maximum(first, other_first))
        union = np.maximum(last, other_last) - np.minimum(first, other_first)
        result = np.zeros(len(union), dtype=np.float32)
        np.divide(inter, union + np.float32(epsilon) if epsilon else union, out=result, where=union > 0)
    return result.astype(np.float64)


def to_lattice(times_s: Floats) -> Integers:
    """Return finite times as whole multiples of one common step, without rounding.

    The step is 1/1000 s, or a finer one if a time has more decimals. Arrays with different steps must not be mixed, so
    pass all times that are compared in one call.

    >>> to_lattice(np.array([1.5, 26.68]))
    array([ 1500, 26680])
    >>> to_lattice(np.array([1.5, 0.0625]))
    array([15000,   625])
    """
    largest = float(np.max(np.abs(times_s), initial=0.0))
    longer, decimals = np.ones(len(times_s), dtype=bool), 0
    for digits_tried in range(_MILLISECONDS, 16):
        scale = 10.0**digits_tried
        if largest * scale >= _SAFE_DECIMAL:
            break
        decimals = digits_tried
        longer[longer] = np.rint(times_s[longer] * scale) / scale != times_s[longer]
        if not longer.any():
            return np.rint(times_s * scale).astype(np.int64)
    values, position = np.unique(times_s[longer], return_inverse=True)
    parts = [_decimal_parts(value) for value in values.tolist()]
    places = max(decimals, *(digits for _, digits in parts))
    power = [10**place for place in range(places + 1)]
    small = (int(largest) + 1) * power[places] < _SAFE_TIME
    shorter = np.rint(np.where(longer, 0.0, times_s) * 10.0**decimals).astype(np.int64)
    lattice: Integers = shorter.astype(np.int64 if small else object) * power[places - decimals]
    whole = np.empty(len(values), dtype=lattice.dtype)
    whole[:] = [number * power[places - digits] for number, digits in parts]
    lattice[longer] = whole[position]
    return lattice


def _decimal_parts(value: float) -> tuple[int, int]:
    """Return the decimal text of a number as a whole number, and how many of its digits are decimals.

    >>> _decimal_parts(12.05), _decimal_parts(5e-07)
    ((1205, 2), (5, 7))
    """
    text = repr(value)
    if "e" in text:
        fraction = Decimal(text)
        decimals = max(0, -cast("int", fraction.as_tuple().exponent))
        return int(fraction.scaleb(decimals, _EXACT)), decimals
    whole, _, decimal = text.partition(".")
    return int(whole + decimal), len(decimal)


def overlap(start: Floats, end: Floats, other_start: Floats, other_end: Floats) -> tuple[Integers, Integers]:
    """Return intersection and union as exact integers, element by element; their quotient is the IoU.

    Spans that do not overlap give intersection 0 and union 1, so the union is always positive. Empty, reversed and
    non-finite spans never overlap.

    >>> s, e = np.array([9.0]), np.array([29.0])
    >>> overlap(s, e, np.array([20.0]), np.array([28.0]))
    (array([8000]), array([20000]))
    """
    # Decimals sort like their float64, so these show which spans overlap; such spans are not empty.
    meets = np.flatnonzero(np.minimum(end, other_end) > np.maximum(start, other_start))
    times = np.concatenate([column[meets] for column in (start, end, other_start, other_end)])
    meets = meets[finite := np.isfinite(times.reshape(4, -1)).all(axis=0)]
    s, e, other_s, other_e = to_lattice(times.reshape(4, -1)[:, finite].reshape(-1)).reshape(4, -1)
    inter = cast("Integers", np.zeros(len(start), s.dtype))
    union = cast("Integers", np.ones(len(start), s.dtype))
    inter[meets] = met = np.minimum(e, other_e) - np.maximum(s, other_s)
    union[meets] = (e - s) + (other_e - other_s) - met
    return inter, union


def reaches(inter: Integers, union: Integers, mu: Fraction, *, strict: bool) -> Flags:
    """Return whether each IoU `inter / union` is at least (if `strict`, above) the threshold `mu`, compared exactly.

    >>> reaches(np.array([3]), np.array([10]), Fraction(3, 10), strict=False)
    array([ True])
    """
    widest = max(_largest(inter) * mu.denominator, _largest(union) * abs(mu.numerator))
    if widest < 2**63 or _largest(union) >= _LARGEST_FLOAT:
        inter, union = (inter, union) if widest < 2**63 else (inter.astype(object), union.astype(object))
        left, right = inter * mu.denominator, union * mu.numerator
        return np.asarray(left > right if strict else left >= right, dtype=bool)
    # The float64 quotient decides all cases that are not close to mu.
    quotient = inter.astype(np.float64) / union.astype(np.float64)
    result = np.asarray(quotient > float(mu), dtype=bool)
    near = np.flatnonzero(np.abs(quotient - float(mu)) <= _NEAR * np.maximum(quotient, abs(float(mu))))
    left, right = inter[near].astype(object) * mu.denominator, union[near].astype(object) * mu.numerator
    result[near] = left > right if strict else left >= right
    return result


def order_keys(inter: Integers, union: Integers) -> Floats:
    """Return numbers that sort like the fractions `inter / union`; the numbers are equal exactly if the fractions are.

    >>> order_keys(np.array([1, 2, 1]), np.array([3, 6, 2])).tolist()
    [0.3333333333333333, 0.3333333333333333, 0.5]
    """
    if max(_largest(inter), _largest(union)) < _SAFE_SPAN:
        return np.asarray(inter.astype(np.float64) / union.astype(np.float64), dtype=np.float64)
    # Different fractions with terms below 2**b differ by more than 2**-2b, so these quotients differ too.
    shift = 2 * max(_largest(inter), _largest(union)).bit_length()
    quotients = (inter.astype(object) << shift) // union.astype(object)
    place = np.unique(quotients, return_inverse=True)[1]
    return np.asarray(place, dtype=np.float64)


def _largest(values: Integers) -> int:
    """Return the greatest element as a Python integer, so that a product with it cannot overflow."""
    return int(values.max()) if len(values) else 0
