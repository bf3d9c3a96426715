"""Intervals, paired tests, Holm and groups, against SciPy and against plain loops."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from backend.scoring.scored_files import score_files
from backend.scoring.statistics.distributions import two_sided_p
from backend.scoring.statistics.resampling import (
    bootstrap_means,
    compare,
    holm,
    indistinct_groups,
    paired_t,
    percentile_interval,
    sign_flip_p,
)
from backend.scoring.statistics.sureness import Sureness, add_statistics
from scored import write_files

RNG = np.random.default_rng(11)


def test_the_bootstrap_interval_is_about_that_of_scipy() -> None:
    from scipy import stats

    values = RNG.beta(2, 3, 400)
    ours = percentile_interval(bootstrap_means(values, seed=3))
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=5).confidence_interval
    assert np.allclose(ours, theirs, atol=0.03 * (theirs.high - theirs.low))


def test_a_bootstrap_mean_is_the_mean_of_a_sample_with_replacement() -> None:
    """With two queries only 0, 1/2 and 1 can come out, in proportions 1 : 2 : 1."""
    means = bootstrap_means(np.array([0.0, 1.0]), resamples=20_000, seed=1)
    found, counts = np.unique(means, return_counts=True)
    assert found.tolist() == [0.0, 0.5, 1.0]
    assert np.allclose(counts / 20_000, [0.25, 0.5, 0.25], atol=0.02)


def test_an_interval_does_not_depend_on_what_else_is_in_the_table() -> None:
    values = RNG.random((3, 4, 57))
    alone = bootstrap_means(values[1, 2], resamples=300, seed=9)
    together = bootstrap_means(values, resamples=300, seed=9)[:, 1, 2]
    assert np.allclose(alone, together, rtol=0, atol=1e-14)
    assert not np.allclose(alone, bootstrap_means(values[1, 2], resamples=300, seed=10))


def test_the_random_sign_flips_come_close_to_all_of_them() -> None:
    """The same 16 differences, enumerated; and padded with five zeros, which change no sum, drawn."""
    differences = RNG.normal(0.2, 0.5, (6, 16))
    exact = sign_flip_p(differences)
    drawn = sign_flip_p(np.hstack([differences, np.zeros((6, 5))]), flips=40_000)
    assert np.allclose(exact, drawn, atol=0.01)


def test_a_drawn_p_counts_the_observed_pattern_too() -> None:
    """30 equal differences: no random pattern reaches their sum, so p = 1 / (B + 1), never 0."""
    assert sign_flip_p(np.ones(30), flips=999) == 1 / 1000
    assert sign_flip_p(np.zeros(30), flips=999) == 1.0


def test_one_query_can_show_nothing() -> None:
    assert sign_flip_p(np.array([0.7])) == 1.0


def test_paired_t_is_that_of_scipy() -> None:
    from scipy import stats

    a, b = RNG.random((2, 5, 40))
    t, p = paired_t(a - b)
    expected = stats.ttest_rel(a, b, axis=1)
    assert np.allclose(t, expected.statistic, rtol=1e-12)
    assert np.allclose(p, expected.pvalue, rtol=1e-12)


@pytest.mark.parametrize("freedom", [1, 2, 7.5, 39, 160, 161, 1000, 9999, 1_000_000])
def test_p_of_students_t_is_that_of_scipy_in_far_tails_too(freedom: float) -> None:
    """SciPy itself loses digits of p close to 1, which are compared absolutely."""
    from scipy.special import stdtr

    t = np.concatenate([np.linspace(0, 6, 61), np.geomspace(1e-8, 200, 80)])
    expected = 2 * stdtr(freedom, -t)
    told = expected > 1e-300  # below, SciPy's are no normal numbers
    for sign in (1, -1):
        p = two_sided_p(sign * t, freedom)
        assert np.allclose(p[told], expected[told], rtol=1e-12, atol=0 if freedom > 1 else 1e-8)
        assert np.all(p[~told] < 1e-299)
    assert np.isnan(two_sided_p(np.array(np.nan), freedom))
    assert two_sided_p(np.array(np.inf), freedom) == pytest.approx(0, abs=1e-99)


def test_p_of_students_t_is_right_where_scipy_is_not() -> None:
    """With one degree of freedom p is 1 - 2 arctan(|t|) / pi, and with two 1 - |t| / sqrt(2 + t^2)."""
    t = np.array([1e-8, 1e-3, 1.0, 5.0])
    assert np.allclose(two_sided_p(t, 1), 1 - 2 * np.arctan(t) / np.pi, rtol=1e-14, atol=0)
    assert np.allclose(two_sided_p(t, 2), 1 - t / np.sqrt(2 + t * t), rtol=1e-14, atol=0)


def test_holm_is_the_step_down_rule_of_its_paper() -> None:
    """Reject the i-th smallest at level a only while p_(i) <= a / (m - i + 1): the adjusted p is the least such a."""
    p = RNG.random(9) ** 3
    levels = np.linspace(0, 0.9995, 2000)
    for level in levels:
        rejected: set[int] = set()
        for i, at in enumerate(np.argsort(p)):
            if p[at] > level / (9 - i):
                break
            rejected.add(int(at))
        assert rejected == set(np.flatnonzero(holm(p) <= level))


def test_holm_leaves_what_was_not_compared() -> None:
    adjusted = holm(np.array([np.nan, 0.03, 0.5]))
    assert np.isnan(adjusted[0])
    assert adjusted[1:].tolist() == [0.06, 0.5]


def test_a_comparison_tells_the_difference_of_the_first_to_the_second() -> None:
    values = np.array([[[0.5, 0.5, 0.9, 0.1], [0.25, 0.5, 0.4, 0.2]]])
    ((one, other),) = compare(values, [(0, 1), (1, 0)])
    assert one.difference == pytest.approx(0.1625)
    assert (one.wins, one.ties, one.losses) == (2, 1, 1)
    assert other.difference == pytest.approx(-0.1625)
    assert (other.wins, other.ties, other.losses) == (1, 1, 2)
    assert one.low is not None
    assert other.high == pytest.approx(-one.low)
    assert one.p == other.p == 0.5  # of |±.25 ±.5 ±.1|, four of eight reach .65: worked by hand
    assert one.exact
    assert one.p_holm == 1.0


def test_holm_is_over_the_pairs_of_one_measure() -> None:
    values = RNG.random((2, 3, 12))
    pairs = list(itertools.combinations(range(3), 2))
    for n, comparisons in enumerate(compare(values, pairs)):
        p = [float(sign_flip_p(values[n, a] - values[n, b])) for a, b in pairs]
        assert [c.p for c in comparisons] == p
        assert [c.p_holm for c in comparisons] == holm(np.array(p)).tolist()


def test_what_is_undefined_says_why() -> None:
    (none,) = compare(np.empty((1, 2, 0)), [(0, 1)])[0]
    assert none.p is none.difference is none.t is None
    assert none.reason == "no query counts"
    (single,) = compare(np.array([[[0.5], [0.25]]]), [(0, 1)])[0]
    assert (single.t, single.p_t, single.reason) == (None, None, "no t-test: there is only one query")
    (same,) = compare(np.array([[[0.5, 0.4, 0.3], [0.25, 0.15, 0.05]]]), [(0, 1)])[0]
    assert (same.t, same.reason) == (None, "no t-test: all queries differ by the same amount")
    assert same.p == 0.25  # + + + and - - - of eight


def brute_groups(runs: int, apart: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    """All sets of runs without a pair told apart, those within another left out."""
    good = [
        set(chosen)
        for size in range(1, runs + 1)
        for chosen in itertools.combinations(range(runs), size)
        if not any({a, b} <= set(chosen) for a, b in apart)
    ]
    return sorted(tuple(sorted(group)) for group in good if not any(group < other for other in good))


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_the_largest_sets_without_a_difference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(6), 2))
    apart = {pair for pair in pairs if rng.random() < rng.random()}
    assert indistinct_groups(6, apart) == brute_groups(6, apart)


def test_without_runs_there_is_no_group() -> None:
    assert indistinct_groups(0, []) == []


def test_all_statistics_of_a_scoreboard_are_of_the_same_resamples(tmp_path: Path) -> None:
    """What is drawn once for all of them is what each would draw by itself."""
    board = score_files(*write_files(tmp_path), k=[3, 5])
    summary = board.summary()
    add_statistics(summary, board, Sureness("good", resamples=400, seed=4))
    for number, run in enumerate(summary["runs"]):
        for key in ("ndcg@3,0.5", "axiou@5"):
            _, values = board.shared(key)
            low, high = percentile_interval(bootstrap_means(values[number], resamples=400, seed=4))
            assert run["intervals"][key] == pytest.approx({"low": float(low), "high": float(high)}, abs=1e-12)
            if number:
                (found,) = compare(values[None], [(number, 0)], resamples=400, seed=4)[0]
                assert run["comparison"][key]["difference_low"] == pytest.approx(found.low, abs=1e-12)
                assert run["comparison"][key]["p"] == found.p
