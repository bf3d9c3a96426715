"""What is drawn of a file of pools, and Wilson's interval against published tables and another library."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.selection.pools.model import draw_sample
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools
from backend.scoring.statistics.distributions import wilson


def query(number: int, positives: int, pool: int, text: str = "") -> PoolQuery:
    """A query of video `o<number>` with so many added positives and a pool of so many videos."""
    own = PoolMoment(f"o{number}", 0.0, 2.0, text or f"Text {number}.")
    added = tuple(PoolMoment(f"p{number}-{n}", 0.0, 2.0, "Much the same.") for n in range(positives))
    others = tuple(f"n{number}-{n}" for n in range(pool - 1 - positives))
    videos = (own.video, *(moment.video for moment in added), *others)
    return PoolQuery(f"{own.video}#0", own.sentence, own, (own, own, *added), videos)


def pools(*queries: PoolQuery) -> Pools:
    return Pools(queries, {video: 9.0 for one in queries for video in one.videos}, {})


# R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), Table I,
# method 3 (score, without continuity correction).
@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_interval_is_that_of_the_published_table(hits: int, n: int, low: float, high: float) -> None:
    assert [round(bound, 4) for bound in wilson(hits, n)] == [low, high]


@given(
    st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.95, 0.8, 0.99])
)
def test_the_interval_is_that_of_scipy_and_holds_the_share(counts: tuple[int, int], confidence: float) -> None:
    from scipy.stats import binomtest

    hits, n = counts
    expected = binomtest(hits, n).proportion_ci(confidence_level=confidence, method="wilson")
    low, high = wilson(hits, n, confidence)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= low <= hits / n <= high <= 1
    if confidence == 0.95:
        assert wilson(hits, n) == (low, high), "as it is unless told"


def test_none_and_all_are_at_the_ends() -> None:
    assert [wilson(0, n)[0] for n in range(1, 99)] == [0.0] * 98
    assert [wilson(n, n)[1] for n in range(1, 99)] == [1.0] * 98


@pytest.mark.parametrize(("hits", "n"), [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_what_is_no_share_has_no_interval(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match="is no share"):
        wilson(hits, n)


def test_all_added_positives_are_looked_at_and_some_negatives_but_never_the_own_video() -> None:
    found = draw_sample(pools(*(query(n, positives=3, pool=20) for n in range(6))), 4, 5, seed=1)
    assert (len(found.drawn), found.checkable) == (4, 6)
    for one in found.drawn:
        assert one.positives == tuple(f"p{one.query.own.video[1:]}-{n}" for n in range(3))
        assert len(set(one.negatives)) == 5
        assert set(one.negatives) <= set(one.query.negatives)
        assert one.query.own.video not in one.videos


def test_the_draw_depends_on_the_seed_and_a_querys_negatives_on_nothing_else() -> None:
    many = pools(*(query(n, positives=2, pool=30) for n in range(30)))
    draws = [draw_sample(many, 10, 5, seed=seed).drawn for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]
    few = {one.query.query_id: one for one in draw_sample(many, 30, 5, seed=1).drawn}
    assert all(few[one.query.query_id] == one for one in draws[0])


def test_the_draws_are_those_of_pythons_generator() -> None:
    """So a sheet that people were given can be drawn again."""
    many = pools(*(query(n, positives=2, pool=30) for n in range(30)))
    found = draw_sample(many, 10, 5, seed=4)
    assert [one.query for one in found.drawn] == random.Random(4).sample(list(many.queries), 10)
    for one in found.drawn:
        assert list(one.negatives) == random.Random(f"4:{one.query.query_id}").sample(list(one.query.negatives), 5)


def test_every_query_and_every_negative_can_be_drawn() -> None:
    three = pools(*(query(n, positives=1, pool=5) for n in range(3)))
    found = [draw_sample(three, 1, 2, seed=seed).drawn[0] for seed in range(120)]
    assert {one.query.query_id for one in found} == {"o0#0", "o1#0", "o2#0"}
    of_first = {frozenset(one.negatives) for one in found if one.query.query_id == "o0#0"}
    assert of_first == {frozenset(two) for two in combinations(("n0-0", "n0-1", "n0-2"), 2)}


def test_what_cannot_be_drawn_is_counted() -> None:
    said = pools(
        query(0, 1, 4, "He sits."), query(1, 1, 4, "He  sits. "), query(2, 0, 3), query(3, 3, 4), query(4, 0, 4)
    )
    found = draw_sample(said, 100, 5, seed=0)
    assert {one.query.query_id for one in found.drawn} == {"o0#0", "o3#0", "o4#0"}
    assert (found.checkable, found.repeated, found.short, found.alone) == (3, 1, 1, 0)
    alone = draw_sample(pools(query(0, 0, 1), query(1, 0, 1)), 100, 5, seed=0)
    assert (alone.drawn, alone.alone, alone.checkable, alone.short) == ((), 2, 0, 0)
    twice = draw_sample(pools(*(query(n, 1, 2, "He sits.") for n in range(3)), query(3, 0, 1)), 100, 5, seed=0)
    assert (len(twice.drawn), twice.checkable, twice.repeated, twice.short) == (1, 1, 2, 1)


def test_whole_pools_can_be_drawn() -> None:
    """Section 5.2 of the MVMR paper: 100 queries with 49 newly added videos each are 4,900 videos."""
    many = pools(*(query(n, positives=n % 5, pool=50) for n in range(120)))
    found = draw_sample(many, 100, None, seed=1)
    assert sum(len(one.videos) for one in found.drawn) == 4900
    for one in found.drawn:
        assert {*one.videos, one.query.own.video} == set(one.query.videos)
    for asked, negatives in ((5, 5), (40, 40), (60, 47)):
        (one,) = draw_sample(pools(query(0, positives=2, pool=50)), 1, asked, seed=0).drawn
        assert (len(one.positives), len(one.negatives)) == (2, negatives)
