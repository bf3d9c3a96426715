"""Laws of the statistics of a leaderboard and of Kendall's tau-b."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from backend.scoring.statistics.distributions import tau_b
from backend.scoring.statistics.resampling import bootstrap_means, holm, percentile_interval, sign_flip_p
from backend.scoring.studies.stability import all_tied, z_scores

# Eighths add up exactly, so that equal sums are equal whatever the order.
EIGHTHS = st.integers(-16, 16).map(lambda n: n / 8)
GRADES = st.integers(0, 4).map(float)


@given(arrays(np.float64, st.integers(1, 9), elements=EIGHTHS))
def test_the_exact_sign_flip_is_the_share_of_all_patterns(differences: np.ndarray) -> None:
    observed = abs(differences.sum())
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    assert sign_flip_p(differences) == sum(total >= observed for total in sums) / len(sums)


@settings(deadline=None)  # 20 queries have half a million patterns
@given(arrays(np.float64, st.integers(1, 30), elements=EIGHTHS), st.integers(0, 5))
def test_a_p_is_the_same_with_the_systems_exchanged(differences: np.ndarray, seed: int) -> None:
    p = sign_flip_p(differences, flips=99, seed=seed)
    assert 0 < p <= 1
    assert p == sign_flip_p(-differences, flips=99, seed=seed)


@given(st.floats(0, 1), st.integers(1, 50), st.integers(0, 5))
def test_the_bootstrap_interval_of_a_constant_is_that_constant(value: float, queries: int, seed: int) -> None:
    low, high = percentile_interval(bootstrap_means(np.full(queries, value), resamples=50, seed=seed))
    assert np.allclose([low, high], value, rtol=0, atol=1e-12)


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1)), st.integers(0, 5))
def test_bootstrap_means_lie_among_the_values(values: np.ndarray, seed: int) -> None:
    means = bootstrap_means(values, resamples=50, seed=seed)
    assert means.min() >= values.min() - 1e-12
    assert means.max() <= values.max() + 1e-12


@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1)))
def test_holm_never_lowers_a_p_nor_turns_their_order(p: np.ndarray) -> None:
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


@given(st.integers(2, 9).flatmap(lambda n: st.tuples(*[arrays(np.float64, n, elements=GRADES)] * 2)))
def test_tau_b_is_that_of_scipy_and_symmetric(both: tuple[np.ndarray, np.ndarray]) -> None:
    from scipy import stats

    x, y = both
    ours, expected = tau_b(x, y), stats.kendalltau(x, y).statistic
    assert np.isnan(ours) == np.isnan(expected)
    if not np.isnan(ours):
        assert abs(ours - expected) <= 1e-12
        assert -1 <= ours <= 1
        assert ours == tau_b(y, x) == -tau_b(-x, y)


@given(arrays(np.float64, st.tuples(st.integers(2, 5), st.integers(1, 8)), elements=GRADES))
def test_queries_are_all_tied_where_every_system_has_the_value_of_the_first(values: np.ndarray) -> None:
    tied = sum(all(value == column[0] for value in column) for column in values.T)
    assert all_tied(values) == tied / values.shape[1]


@given(arrays(np.float64, st.integers(2, 9), elements=EIGHTHS))
def test_z_scores_are_those_of_scipy_and_0_without_variance(scores: np.ndarray) -> None:
    from scipy import stats

    z = z_scores(scores)
    if len(set(scores.tolist())) == 1:
        assert (z == 0).all()
    else:
        assert np.allclose(z, stats.zscore(scores, ddof=0), rtol=0, atol=1e-12)
