"""The key of a round and the choice of answers, as pure functions, against brute force and the statistics library."""

import math
import statistics
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.qualification.exam.rules.drawing import Open, draw_top
from backend.campaign.qualification.exam.rules.marking import median, spread
from backend.core.ids import AnnotatorId, PairId, QueryId

PEOPLE = st.lists(st.integers(1, 6).map(AnnotatorId), unique=True, max_size=6)
ANSWERED = st.dictionaries(st.integers(1, 30).map(PairId), PEOPLE, max_size=20)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=25))
def test_the_median_is_that_of_the_library_with_a_half_going_up(grades: list[int]) -> None:
    exact = Fraction(statistics.median([Fraction(grade) for grade in grades]))
    assert median(grades) == math.floor(exact + Fraction(1, 2))
    assert median(grades[::-1]) == median(grades)


def test_there_is_no_median_of_nothing() -> None:
    with pytest.raises(ValueError, match="no grades"):
        median([])


@given(ANSWERED, st.integers(0, 2), st.integers(0, 9))
def test_a_choice_takes_as_many_as_there_are_places_and_people(
    answered: dict[PairId, list[AnnotatorId]], places: int, seed: int
) -> None:
    chosen = spread(answered, dict.fromkeys(answered, places), seed)
    for pair, people in answered.items():
        taken = chosen.get(pair, [])
        assert len(taken) == len(set(taken)) == min(places, len(people))
        assert set(taken) <= set(people)
    assert all(chosen.values())


@given(ANSWERED, st.integers(0, 9))
def test_the_same_pairs_and_people_give_the_same_choice_in_whatever_order(
    answered: dict[PairId, list[AnnotatorId]], seed: int
) -> None:
    turned = {pair: people[::-1] for pair, people in reversed(answered.items())}
    places = dict.fromkeys(answered, 2)
    assert spread(answered, places, seed) == spread(turned, places, seed)


@given(st.integers(1, 30), st.integers(2, 6), st.integers(0, 9))
def test_where_everybody_answered_everything_nobody_has_more_than_one_above_another(
    pairs: int, people: int, seed: int
) -> None:
    everybody = [AnnotatorId(number) for number in range(1, people + 1)]
    answered = {PairId(pair): everybody for pair in range(1, pairs + 1)}
    had = Counter(person for taken in spread(answered, dict.fromkeys(answered, 2), seed).values() for person in taken)
    counts = [had[person] for person in everybody]
    assert sum(counts) == 2 * pairs
    assert max(counts) - min(counts) <= 1


def test_the_seed_decides_who() -> None:
    everybody = [AnnotatorId(number) for number in range(1, 7)]
    answered = {PairId(pair): everybody for pair in range(1, 5)}
    choices = {str(spread(answered, dict.fromkeys(answered, 2), seed)) for seed in range(20)}
    assert len(choices) > 10


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 40)), unique=True, max_size=60),
    st.integers(1, 5),
    st.integers(1, 6),
    st.integers(0, 5),
)
def test_a_draw_of_open_pairs_takes_the_top_of_each_query(
    there: list[tuple[int, int]], queries: int, pairs: int, seed: int
) -> None:
    open_pairs = [Open(QueryId(query), PairId(nth), rank) for nth, (query, rank) in enumerate(there)]
    drawn = draw_top(open_pairs, queries=queries, pairs=pairs, seed=seed)
    assert drawn == draw_top(open_pairs[::-1], queries=queries, pairs=pairs, seed=seed)
    had = Counter(query for query, _ in there)
    taken = Counter(one.query_id for one in drawn)
    assert len(taken) == min(queries, len(had))
    for query, number in taken.items():
        assert number == min(pairs, had[query])
        ranks = sorted(rank for of, rank in there if of == query)
        assert [one.rank for one in drawn if one.query_id == query] == ranks[:number]
    left = [min(pairs, number) for query, number in had.items() if query not in taken]
    assert not left or max(left) <= min(taken.values())


def test_the_median_of_an_odd_number_is_the_middle_one_whatever_lies_below() -> None:
    assert (median([4, 0, 4]), median([0, 4, 4, 1, 4])) == (4, 4)


def test_a_pair_without_a_place_takes_nobody() -> None:
    everybody = [AnnotatorId(7), AnnotatorId(8)]
    answered = {PairId(1): everybody, PairId(2): everybody}
    assert spread(answered, {PairId(1): 2}, 0).keys() == {PairId(1)}
