"""A draw that spreads over the grades, against every exam that could be made of the same pairs."""

from collections import Counter
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.exam.rules import drawing
from backend.campaign.qualification.exam.rules.drawing import draw
from backend.core.ids import PairId, QueryId

Stock = list[list[int]]
"""How many pairs of each relevance each query has."""


def stocks(grades: int, queries: int, most: int) -> st.SearchStrategy[Stock]:
    query = st.lists(st.integers(0, most), min_size=grades, max_size=grades).filter(any)
    return st.lists(query, min_size=1, max_size=queries)


def pairs_of(stock: Stock) -> list[KnownPair]:
    grades = [(query, grade) for query, have in enumerate(stock) for grade, n in enumerate(have) for _ in range(n)]
    return [KnownPair(PairId(nth), grade, QueryId(query)) for nth, (query, grade) in enumerate(grades)]


def counts(drawn: list[KnownPair], grades: int) -> list[int]:
    found = Counter(one.right for one in drawn)
    return [found[grade] for grade in range(grades)]


def every_exam(stock: Stock, queries: int, pairs: int) -> list[tuple[int, ...]]:
    """How many items have each grade, in every exam with as many items as there can be, counted out."""
    sizes = [min(sum(have), pairs) for have in stock]
    sets = list(combinations(range(len(stock)), min(queries, len(stock))))
    most = max(sum(sizes[query] for query in some) for some in sets)
    found: set[tuple[int, ...]] = set()
    for some in sets:
        if sum(sizes[query] for query in some) < most:
            continue
        ways = [
            [take for take in product(*(range(n + 1) for n in stock[query])) if sum(take) == sizes[query]]
            for query in some
        ]
        found |= {tuple(sum(column) for column in zip(*each, strict=True)) for each in product(*ways)}
    return sorted(found)


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 4).flatmap(lambda grades: stocks(grades, 4, 2)), st.integers(1, 3), st.integers(1, 3), st.data())
def test_no_exam_of_the_same_pairs_is_more_even(stock: Stock, queries: int, pairs: int, data: st.DataObject) -> None:
    grades = len(stock[0])
    drawn = draw(pairs_of(stock), queries=queries, pairs=pairs, seed=data.draw(st.integers(0, 3)))
    found = counts(drawn, grades)
    possible = every_exam(stock, queries, pairs)
    assert tuple(found) in possible
    assert sum(n * n for n in found) == min(sum(n * n for n in one) for one in possible)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 5).flatmap(lambda grades: stocks(grades, 8, 6)), st.integers(1, 8), st.integers(1, 10))
def test_evenness_costs_no_items_and_asks_nothing_twice(stock: Stock, queries: int, pairs: int) -> None:
    there = pairs_of(stock)
    drawn = draw(there, queries=queries, pairs=pairs, seed=1)
    plain = draw(there, queries=queries, pairs=pairs, seed=1, spread=False)
    assert len(drawn) == len(plain) == len(set(drawn))
    assert set(drawn) <= set(there)
    by_query = Counter(one.query_id for one in drawn)
    assert len(by_query) <= queries
    assert max(by_query.values()) <= pairs
    assert sum(n * n for n in counts(drawn, 5)) <= sum(n * n for n in counts(plain, 5))
    assert draw(list(reversed(there)), queries=queries, pairs=pairs, seed=1) == drawn


def test_queries_are_swapped_where_there_are_too_many_sets_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    # Forty queries show nothing but grade 0, ten have one pair of each grade: a sample of five finds few of these.
    stock = [[5, 0, 0, 0, 0]] * 40 + [[1, 1, 1, 1, 1]] * 10
    there = pairs_of(stock)
    for seed in range(5):
        assert counts(draw(there, queries=5, pairs=5, seed=seed), 5) == [5] * 5
        assert max(counts(draw(there, queries=5, pairs=5, seed=seed, spread=False), 5)) > 5
    monkeypatch.setattr(drawing, "_FILLED", 0)
    assert max(counts(draw(there, queries=5, pairs=5, seed=1), 5)) > 5, "without a swap it stays as it was sampled"


def test_queries_with_enough_pairs_stay_when_others_are_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "SETS", 0)
    drawn = draw(pairs_of([[4, 0], [2, 0], [1, 1], [2, 0]]), queries=2, pairs=4, seed=1)
    assert counts(drawn, 2) == [5, 1]
    assert {one.query_id for one in drawn} == {0, 2}


def test_another_seed_draws_another_exam_as_even() -> None:
    there = pairs_of([[6, 3, 2, 1, 1]] * 12)
    drawn = [draw(there, queries=4, pairs=5, seed=seed) for seed in range(4)]
    assert len({tuple(one) for one in drawn}) == 4
    assert all(counts(one, 5) == [4] * 5 for one in drawn)


def test_nothing_settled_makes_no_exam() -> None:
    assert draw([], queries=2, pairs=2, seed=1) == []
