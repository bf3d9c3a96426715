"""Exact and float64 overlap of time spans."""

from fractions import Fraction

import numpy as np
import pytest

from backend.core.timespan import decimal_fraction, iou_float64, order_keys, overlap, reaches, to_lattice

NAN, INF = float("nan"), float("inf")


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)


@pytest.mark.parametrize(
    ("times", "step", "why"),
    [
        ([0, 1.5, 26.68], 1000, "milliseconds hold what annotation files have"),
        ([0.001, 90.02], 1000, "a whole millisecond"),
        ([0.0625, 3], 10**4, "a fourth decimal makes the lattice finer"),
        ([12.345678, 90.0], 10**6, "microseconds"),
    ],
)
def test_times_become_whole_numbers_of_the_coarsest_lattice_that_holds_them(times, step, why):
    lattice = to_lattice(column(*times))
    assert lattice.dtype == np.int64
    assert lattice.tolist() == [Fraction(str(t)) * step for t in times], why


@pytest.mark.parametrize(
    "times",
    [
        [0.1 + 0.2, 0.3],  # 0.30000000000000004 is another number than 0.3
        [1 / 3, 1e9],
        [1e-300, 1.0],
        [123456789012.125, 0.3333333333333333],
        [12.059999999999999, 61.08],
        [4000.0000000000005, 0.1 + 0.2],  # whole numbers too large for int64
        [1e22, 5e-07],
        [90071992547.40993, 1.0],  # 9007199254740993 hundred-thousandths: a whole number that no float64 is
    ],
)
def test_no_decimal_is_lost_however_many_there_are(times):
    lattice = to_lattice(column(*times))
    first, second = (Fraction(repr(t)) for t in times)
    assert Fraction(int(lattice[0]), int(lattice[1])) == first / second


def test_an_iou_that_is_a_threshold_reaches_it_exactly_where_float64_falls_short():
    spans = column(24.71), column(58.31), column(26.68), column(36.76)  # boundary.json, first case: 3/10
    assert iou_float64(*spans)[0] < 0.3
    inter, union = overlap(*spans)
    assert reaches(inter, union, decimal_fraction(0.3), strict=False).tolist() == [True]
    assert reaches(inter, union, decimal_fraction(0.3), strict=True).tolist() == [False]


@pytest.mark.parametrize(
    ("span", "other", "why"),
    [
        ((0, 10), (10, 20), "half-open spans that touch"),
        ((5, 5), (0, 10), "empty inside another"),
        ((5, 5), (5, 5), "both empty: union 0"),
        ((9, 3), (0, 10), "reversed"),
        ((9, 3), (8, 2), "both reversed: union negative"),
        ((NAN, 3), (0, 10), "start not a number"),
        ((0, NAN), (0, 10), "end not a number"),
        ((0, INF), (0, 10), "without end"),
        ((-INF, INF), (0, INF), "without end, both"),
    ],
)
def test_spans_without_common_time_have_iou_0_in_both_arithmetics(span, other, why):
    columns = [column(float(x)) for x in (*span, *other)]
    assert iou_float64(*columns).tolist() == [0.0], why
    inter, union = overlap(*columns)
    assert inter.tolist() == [0], why
    assert union[0] > 0, why


def test_thresholds_with_many_digits_are_compared_without_overflow():
    rng = np.random.default_rng(7)
    union = rng.integers(10**8, 2 * 10**9, 200)
    inter = rng.integers(0, union)
    for mu in (0.1234567890123456, 0.5, 0.9999999999999999):
        for strict in (False, True):
            expected = [Fraction(int(i), int(u)) >= Fraction(str(mu)) for i, u in zip(inter, union, strict=True)]
            assert reaches(inter, union, decimal_fraction(mu), strict=strict).tolist() == expected


@pytest.mark.parametrize("size", [2**52, 2**61, 2**90, 2**1100])
@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5, 0.1234567890123456, 1.0])
def test_the_smallest_step_beside_a_threshold_counts(size: int, mu: float):
    wanted = decimal_fraction(mu)
    unions = [size - size % wanted.denominator, size + 1, size + 12345]
    pairs = [(int(wanted * union) + step, union) for union in unions for step in (-1, 0, 1)]
    kind = np.int64 if size < 2**62 else object
    inter, union = (np.array(column, dtype=kind) for column in zip(*pairs, strict=True))
    for strict in (False, True):
        expected = [Fraction(*pair) > wanted if strict else Fraction(*pair) >= wanted for pair in pairs]
        assert reaches(inter, union, wanted, strict=strict).tolist() == expected
        assert True in expected
        assert False in expected


@pytest.mark.parametrize(("size", "kind"), [(2**30, np.int64), (2**60, object), (2**90, object)])
def test_order_keys_tell_fractions_apart_that_are_one_float(size, kind):
    inter = np.array([size, size + 1, 2 * size], dtype=kind)
    union = np.array([size + 1, size + 2, 2 * size + 2], dtype=kind)
    assert inter[0] / union[0] == inter[1] / union[1]
    keys = order_keys(inter, union)
    assert keys[0] < keys[1]
    assert keys[0] == keys[2]


def test_empty_columns_are_fine():
    none = column()
    inter, union = overlap(none, none, none, none)
    assert len(inter) == len(order_keys(inter, union)) == len(iou_float64(none, none, none, none)) == 0
    assert reaches(inter, union, Fraction(1, 2), strict=True).tolist() == []
