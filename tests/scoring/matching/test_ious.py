"""IoUs in each arithmetic, against the formula of its evaluators in fractions, floats and single floats."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.scoring.matching.greedy import ExactIous, ious

TENTHS = st.tuples(st.integers(0, 20), st.integers(1, 20)).map(lambda one: (one[0] / 10, (one[0] + one[1]) / 10))
COUPLES = st.lists(st.tuples(TENTHS, TENTHS), min_size=1, max_size=12)
LEVELS = [0.0, 0.1, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 1.0]


def read(arithmetic):
    """What a time is in an arithmetic."""
    return {"exact": lambda time: Fraction(str(time)), "float32": np.float32}.get(arithmetic, float)


def plain(one, other, arithmetic):
    start, end, other_start, other_end = (read(arithmetic)(time) for time in (*one, *other))
    inter = max(read(arithmetic)(0), min(end, other_end) - max(start, other_start))
    if arithmetic in ("float64_hull", "float32", "hundredths"):
        iou = inter / (max(end, other_end) - min(start, other_start))
        return round(iou, 2) if arithmetic == "hundredths" else iou
    return inter / ((end - start) + (other_end - other_start) - inter)


@pytest.mark.parametrize("arithmetic", ["exact", "float64", "float64_hull", "float32", "hundredths"])
@settings(max_examples=50)
@given(couples=COUPLES)
def test_values_order_and_thresholds_are_those_of_the_arithmetic(arithmetic, couples):
    columns = np.array([(*one, *other) for one, other in couples]).T
    found = ious(*columns, arithmetic=arithmetic)
    expected = [plain(one, other, arithmetic) for one, other in couples]
    assert found.values.tolist() == [float(one) for one in expected]
    keys = found.keys.tolist()
    assert sorted(range(len(couples)), key=keys.__getitem__) == sorted(range(len(couples)), key=expected.__getitem__)
    assert len(set(keys)) == len(set(expected))
    for level in LEVELS:
        least = read(arithmetic)(level)
        assert found.reach(level, strict=False).tolist() == [one >= least for one in expected]
        assert found.reach(level, strict=True).tolist() == [one > least for one in expected]
    last = found.take(np.array([len(couples) - 1, 0]))
    assert type(last) is type(found)
    assert last.values.tolist() == [float(expected[-1]), float(expected[0])]
    assert last.reach(0.5, strict=False).tolist() == [expected[n] >= read(arithmetic)(0.5) for n in (-1, 0)]


def test_whole_numbers_beyond_a_float_are_divided_as_they_are():
    """The first is 0.5 and less than half a step; as floats divided it were a whole step more."""
    inter, union = [2**52 + 1, 1, 3 * 2**70 + 1], [2**53 + 1, 3, 2**72 - 1]
    for size in (2, 3):
        kind = np.int64 if size == 2 else object
        found = ExactIous(np.array(inter[:size], dtype=kind), np.array(union[:size], dtype=kind)).values
        assert found.tolist() == [0.5, 1 / 3, 0.75][:size]
        assert found.dtype == np.float64


def test_of_nothing_there_are_no_values():
    nothing = np.array([], dtype=np.int64)
    assert ExactIous(nothing, nothing).values.tolist() == []
