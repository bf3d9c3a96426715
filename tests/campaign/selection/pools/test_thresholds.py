"""Thresholds from labelled pairs, against every threshold tried one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.selection.pools.rules import NEARLY, calibrate, evaluate_thresholds

SIMILARITIES = st.lists(st.floats(-1, 1), min_size=1, max_size=40)


def youden(alike: list[float], different: list[float], t: float) -> float:
    return sum(s >= t for s in alike) / len(alike) + sum(s < t for s in different) / len(different) - 1


@given(SIMILARITIES, SIMILARITIES)
def test_they_are_the_outermost_of_the_nearly_best(alike: list[float], different: list[float]) -> None:
    found = calibrate(np.array(alike), np.array(different))
    every = [n / 100 for n in range(-100, 101)]
    best = max(youden(alike, different, t) for t in every)
    assert found.youden == pytest.approx(best)
    assert youden(alike, different, found.best) == pytest.approx(best)
    good = [t for t in every if youden(alike, different, t) >= best - NEARLY - 1e-12]
    surely = [t for t in every if youden(alike, different, t) >= best - NEARLY + 1e-12]
    assert surely[-1] <= found.t_pos <= good[-1]
    assert good[0] <= found.t_neg <= surely[0]
    assert found.t_neg <= found.best <= found.t_pos


def test_how_pairs_lie_between_them() -> None:
    alike, different = np.array([0.95, 0.8, 0.7, 0.4]), np.array([0.1, 0.5, 0.6, 0.9])
    found = evaluate_thresholds(0.8, 0.5, alike, different)
    assert (found.alike, found.different) == (4, 4)
    assert (found.kept_alike, found.kept_different) == (0.5, 0.5)
    assert (found.alike_below, found.different_above) == (1, 1)
    assert found.youden == 0.25  # 2 of 4 alike, 1 of 4 different at 0.8 or more
    at_ends = evaluate_thresholds(0.9, 0.4, alike, different, best=0.6)
    assert (at_ends.alike_below, at_ends.different_above) == (1, 1)
    assert (at_ends.best, at_ends.youden) == (0.6, 0.25)  # 3 of 4 alike, 2 of 4 different at 0.6 or more
    assert evaluate_thresholds(0.8, 0.5, alike, different).best == 0.8


def test_the_best_is_not_always_one_of_the_outermost() -> None:
    """Two of a hundred alike pairs are as far as 0.5, which costs less than the 0.03 that is nearly the best."""
    found = calibrate(np.array([0.9] * 98 + [0.5] * 2), np.array([0.1] * 99 + [0.05]))
    assert (found.t_neg, found.best, found.t_pos, found.youden) == (0.11, 0.11, 0.9, 1.0)
