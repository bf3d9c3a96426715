"""Intervals over runs of grades against scipy's t-tests."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.rules import people


@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 19), st.integers(0, 1000))
def test_intervals_are_students_over_runs(new: int, old: int, left: int, seed: int) -> None:
    """They are about the mean of all values; the spread is that of the runs, which leave out the oldest values."""
    from scipy import stats

    rng = np.random.default_rng(seed)
    one, other = rng.normal(size=left + 20 * new), rng.normal(1.0, 2.0, size=left + 20 * old)
    runs = [values[left:].reshape(-1, 20).mean(axis=1) for values in (one, other)]
    both = stats.ttest_ind(*runs, equal_var=False).confidence_interval(0.99)
    aside = one.mean() - runs[0].mean(), other.mean() - runs[1].mean()
    moved = aside[0] - aside[1]
    assert people.of_difference(one, other) == pytest.approx((both.low + moved, both.high + moved))
    alone = stats.ttest_1samp(runs[0], 0).confidence_interval(0.99)
    assert people.of_mean(one) == pytest.approx((alone.low + aside[0], alone.high + aside[0]))


def test_fewer_than_two_runs_have_no_interval() -> None:
    short, enough = np.arange(39.0), np.arange(40.0)
    assert people.of_mean(short) is None
    assert people.of_mean(enough) is not None
    assert people.of_difference(short, enough) is None
    assert people.of_difference(enough, short) is None
    assert people.of_difference(enough, enough) is not None


def test_runs_that_are_all_alike_leave_no_doubt() -> None:
    assert people.of_difference(np.full(40, 3.0), np.full(60, 1.0)) == (2.0, 2.0)
