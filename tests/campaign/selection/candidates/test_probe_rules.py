"""Probes by the recipe of TVR-Ranking: the best 60, and 60 of all others."""

import random

import pytest

from backend.campaign.selection.candidates.model import probe, probed


@pytest.mark.parametrize("there", [0, 1, 59, 60, 61, 119, 120])
def test_where_there_are_no_more_all_are_in_it_in_their_order(there: int) -> None:
    assert probe(range(there), "A cat sits.", 7) == [*range(there)]


def test_others_are_drawn_for_each_query_by_the_seed() -> None:
    """The draw is written out here, as a project that was begun must go on with the same."""
    ranked = range(1, 1001)
    for text, seed in (("A cat sits.", 7), ("A cat sits.", 8), ("It rains.", 7)):
        others = random.Random(f"{seed} {text}").sample(range(61, 1001), 60)
        assert probe(ranked, text, seed) == [*range(1, 61), *sorted(others)]
    assert len(set(probe(range(121), "A cat sits.", 7))) == 120


def test_the_queries_are_drawn_by_the_seed() -> None:
    texts = [f"text {n}" for n in range(100)]
    found = [probed(texts, 10, seed) for seed in (1, 1, 2)]
    assert found[0] == found[1] != found[2]
    assert all(len(one) == 10 and one < set(texts) for one in found)
    assert probed(texts, 100, 1) == set(texts)
