"""The power of the paired t-test beside SciPy's noncentral t, G*Power's manual, and simulated tests."""

import math

import numpy as np
import pytest

from backend.scoring.statistics.power import MOST_QUERIES, paired_power, queries_needed

scipy_stats = pytest.importorskip("scipy.stats")


def by_scipy(effect: float, queries: int, alpha: float) -> float:
    freedom, delta = queries - 1, effect * math.sqrt(queries)
    critical = scipy_stats.t.isf(alpha / 2, freedom)
    beyond = scipy_stats.nct.sf(critical, freedom, delta) + scipy_stats.nct.cdf(-critical, freedom, delta)
    return float(beyond)


@pytest.mark.parametrize("alpha", [0.001, 0.05])
@pytest.mark.parametrize("queries", [2, 3, 20, 500, 100_000])
@pytest.mark.parametrize("delta", [0.01, 1.5, 4.0])
def test_the_power_is_that_of_the_noncentral_t(delta: float, queries: int, alpha: float) -> None:
    effect = delta / math.sqrt(queries)
    assert paired_power(effect, 1.0, queries, alpha) == pytest.approx(by_scipy(effect, queries, alpha), abs=1e-8)


def test_without_a_difference_the_power_is_the_level() -> None:
    assert paired_power(0.0, 0.3, 40, 0.05) == pytest.approx(0.05, abs=1e-9)


def test_only_the_ratio_to_the_deviation_counts_and_no_sign() -> None:
    assert paired_power(0.02, 0.2, 300) == pytest.approx(paired_power(-0.1, 1.0, 300), abs=1e-12)


@pytest.mark.parametrize(("effect", "power"), [(0.5, 0.8), (0.1, 0.8), (0.02, 0.95), (2.0, 0.5), (0.3, 0.99)])
def test_the_queries_are_the_fewest_that_reach_the_power(effect: float, power: float) -> None:
    queries = queries_needed(effect, 1.0, power)
    assert queries is not None
    assert by_scipy(effect, queries, 0.05) >= power > by_scipy(effect, queries - 1, 0.05)


def test_two_queries_are_the_fewest_of_a_test_and_there_is_a_most() -> None:
    assert queries_needed(1e6, 1.0) == 2
    assert queries_needed(1e-9, 1.0) is None
    assert queries_needed(0.001, 1.0) == pytest.approx(2.8016**2 * 1e6, rel=1e-3)
    assert MOST_QUERIES > 7_850_000


def test_simulated_campaigns_find_the_difference_as_often() -> None:
    """20,000 campaigns of the planned size with skewed differences: the share of p < 0.05 is near 0.8."""
    queries = queries_needed(0.05, 0.2, 0.8)
    assert queries == 128
    # Differences of two scores: many are 0, some are large; with mean 0.05 and standard deviation 0.2.
    kinds = np.array([-0.5, 0.0, 0.0, 0.0, 0.25, 0.6])
    kinds = (kinds - kinds.mean()) / kinds.std() * 0.2 + 0.05
    differences = np.random.default_rng(7).choice(kinds, size=(20_000, queries))
    p = scipy_stats.ttest_1samp(differences, 0.0, axis=1).pvalue
    # The standard error of the share is 0.003.
    assert float((p < 0.05).mean()) == pytest.approx(0.8, abs=0.012)
