"""Resampling of pairs, each with all its grades, against drawing them one by one and counting the long way."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.scoring.statistics import bootstrap
from backend.scoring.statistics.agreement import cohen_kappa, couples_of
from graded import a_campaign, graded


def test_patterns_are_drawn_as_often_as_their_pairs_are() -> None:
    """Of three pairs, two alike, the ways to draw three are as frequent as the binomial distribution says."""
    drawn = bootstrap.drawn_patterns(np.array([2, 1]), resamples=4000, seed=1)
    assert drawn.shape == (4000, 2)
    often = Counter(map(tuple, drawn.tolist()))
    expected = {(k, 3 - k): comb(3, k) * 2**k / 27 for k in range(4)}
    assert {way: n / 4000 for way, n in often.items()} == pytest.approx(expected, abs=0.04)  # 5 standard errors


def test_units_are_drawn_with_replacement() -> None:
    draws = list(bootstrap.drawn_units(5, resamples=2000, seed=1))
    assert len(draws) == 2000
    assert {(len(one), int(one.sum())) for one in draws} == {(5, 5)}
    # Each is in a resample once on average, and in none of it with a chance of 0.8 ** 5.
    assert np.mean(draws, axis=0) == pytest.approx(np.ones(5), abs=0.1)
    assert (np.array(draws) == 0).mean() == pytest.approx(0.8**5, abs=0.03)


def test_the_draw_is_of_the_seed() -> None:
    times = np.full(50, 4)
    for draw in (
        lambda **of: bootstrap.drawn_patterns(times, resamples=3, **of).tolist(),
        lambda **of: np.array([*bootstrap.drawn_units(200, resamples=3, **of)]).tolist(),
    ):
        assert draw() == draw(seed=bootstrap.SEED)
        assert draw(seed=1) == draw(seed=1) != draw(seed=2)
    assert len(bootstrap.drawn_patterns(np.array([3]))) == bootstrap.RESAMPLES
    assert sum(1 for _ in bootstrap.drawn_units(3)) == bootstrap.RESAMPLES


def test_the_draws_of_units_stay_as_they_were() -> None:
    """Intervals that were published can be computed again."""
    generator = np.random.default_rng(5)
    places = [generator.integers(0, 9, 9, dtype=np.uint32).tolist() for _ in range(3)]
    expected = [[drawn.count(unit) for unit in range(9)] for drawn in places]
    assert [one.tolist() for one in bootstrap.drawn_units(9, resamples=3, seed=5)] == expected


def test_of_no_pairs_nothing_is_drawn() -> None:
    assert bootstrap.drawn_patterns(np.array([], dtype=np.int64), resamples=3).shape == (3, 0)
    nothing = bootstrap.drawn_patterns(np.array([0, 0]), resamples=3)
    assert (nothing.tolist(), nothing.dtype) == ([[0, 0]] * 3, np.int64)


def test_kappas_are_resampled_with_whole_pairs() -> None:
    """Three of four people share pairs enough; the second shares too few with each of them."""
    found = graded(a_campaign(3, units=80, people=4))
    few = np.flatnonzero((found.annotator == 1) & (found.pair > 20))
    found = GradedPairs(
        found.people,
        *(np.delete(column, few) for column in (found.pair, found.annotator, found.grade)),
        *(found.decided, 4, 1, found.rounding, True),
    )
    couples = couples_of(found.pair, found.annotator, found.grade)
    shared = couples.tables().sum(axis=(1, 2))
    least = int(min(shared[[1, 2, 5]]))
    enough = [tuple(one) for one, n in zip(couples.couples.tolist(), shared.tolist(), strict=True) if n >= least]
    assert enough == [(0, 2), (0, 3), (2, 3)]
    fast = bootstrap.mean_kappas(couples, 80, least, resamples=210, seed=5)
    draws = list(bootstrap.drawn_units(80, resamples=210, seed=5))
    assert set(fast) == {"plain", "quadratic"}
    for weights, values in fast.items():
        assert values.shape == (210,)
        for place in (0, 57, 99, 100, 199, 200, 209):  # tables of a hundred are in memory together
            means = []
            for first, second in enough:
                tables = {who: dict(zip(*_grades_of(found, who), strict=True)) for who in (first, second)}
                both = sorted(tables[first].keys() & tables[second].keys())
                units = np.repeat(both, draws[place][both])
                one, other = (np.array([tables[who][unit] for unit in units]) for who in (first, second))
                means.append(cohen_kappa(one, other, weights).value)
            assert values[place] == pytest.approx(np.mean(means), abs=1e-12)


def _grades_of(found: GradedPairs, who: int) -> tuple[list[int], list[int]]:
    kept = found.annotator == who
    return found.pair[kept].tolist(), found.grade[kept].tolist()


def test_a_kappa_that_is_undefined_in_a_resample_is_not_in_its_mean() -> None:
    """Two couples at two pairs each; one always gives the same grades, 0 and 4, the other always the two against."""
    found = graded([[0, 0, None, None], [4, 4, None, None], [None, None, 0, 4], [None, None, 4, 0]])
    couples = couples_of(found.pair, found.annotator, found.grade)
    with np.errstate(all="raise"):
        values = bootstrap.mean_kappas(couples, 4, 2, resamples=1100, seed=1)["plain"]
    expected = []
    for a, b, c, d in (one.tolist() for one in bootstrap.drawn_units(4, resamples=1100, seed=1)):
        chance = 2 * c * d / (c + d) ** 2 if c + d else 0.0  # of the same grade
        kappas = [1.0] * (a > 0 and b > 0) + [-chance / (1 - chance)] * (c + d > 0)
        expected.append(np.mean(kappas) if kappas else np.nan)
    assert values.tolist() == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert {0.0, 1.0, -1.0} <= set(expected)


def test_couples_that_share_too_few_pairs_have_no_resamples() -> None:
    found = graded([[1, 2, None], [0, None, 3], [2, 2, None]])
    couples = couples_of(found.pair, found.annotator, found.grade)
    of = bootstrap.mean_kappas(couples, 3, 3, resamples=7)
    assert [(np.isnan(values).all(), values.shape) for values in of.values()] == [(True, (7,))] * 2


@given(st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=30))
def test_an_interval_is_the_middle_of_what_is_defined(samples: list[float]) -> None:
    defined = [value for value in samples if value == value]
    for level in (0.95, 0.5):
        found = bootstrap.interval(np.array(samples), level)
        if defined:
            assert found == pytest.approx(tuple(np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])), abs=1e-12)
        else:
            assert found is None
    assert bootstrap.interval(np.array(samples)) == bootstrap.interval(np.array(samples), 0.95)


def test_means_are_resampled_by_unit() -> None:
    values, unit = np.array([1.0, 3.0, np.nan, -2.0, 0.5]), np.array([0, 0, 1, 2, 3])
    found = bootstrap.mean_samples(values, unit, resamples=3000, seed=2)
    rng = np.random.default_rng(4)
    of_unit = [(4.0, 2), (-2.0, 1), (0.5, 1)]
    slow = []
    for _ in range(3000):
        sums, counts = np.array([of_unit[n] for n in rng.integers(0, 3, 3)]).sum(axis=0)
        slow.append(sums / counts)
    assert set(np.round(found, 9)) == set(np.round(slow, 9)), "every sample of three units, and no other"
    assert found.mean() == pytest.approx(np.mean(slow), abs=0.1)


def test_units_alike_are_drawn_as_one_kind() -> None:
    """Thirds that differ in the last bit are alike; a sum of as much over fewer values is not."""
    values = np.array([0.1 + 0.2, 0.3, 0.15, 0.15, 0.3])
    unit = np.array([5, 6, 7, 7, 8])
    found = bootstrap.mean_samples(values, unit, resamples=40, seed=3)
    drawn = bootstrap.drawn_patterns(np.array([3, 1]), resamples=40, seed=3)  # sums of 0.3: of one value, of two
    assert found == pytest.approx((drawn @ [0.3, 0.3]) / (drawn @ [1, 2]), abs=1e-12)


def test_nothing_defined_or_nothing_asked_for_has_no_samples() -> None:
    with np.errstate(all="raise"):
        nothing = bootstrap.mean_samples(np.array([np.nan, np.nan]), np.array([0, 1]), resamples=4)
    assert (nothing.shape, np.isnan(nothing).all()) == ((4,), True)
    assert bootstrap.mean_samples(np.array([1.0]), np.array([0]), resamples=0).shape == (0,)
    assert len(bootstrap.mean_samples(np.array([1.0, np.nan]), np.array([0, 1]))) == bootstrap.RESAMPLES
