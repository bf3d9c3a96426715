"""Which pairs make an exam."""

import random
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from backend.ground.ids import PairId, QueryId


class Settled(NamedTuple):
    """A pair whose relevance is known."""

    query_id: QueryId
    pair_id: PairId
    relevance: int


def draw(settled: Iterable[Settled], *, queries: int, pairs: int, seed: int) -> list[Settled]:
    """The items of an exam: a seeded sample of queries, and of the settled pairs of each.

    Queries that have enough settled pairs come before those that have fewer; fewer items come out where the project
    has no more.

    >>> there = [Settled(QueryId(q), PairId(10 * q + n), n) for q in (1, 2, 3) for n in range(4)]
    >>> [item.query_id for item in draw(there, queries=2, pairs=2, seed=1)]
    [2, 2, 3, 3]
    >>> draw(there, queries=2, pairs=2, seed=1) == draw(reversed(there), queries=2, pairs=2, seed=1)
    True
    """
    by_query: defaultdict[QueryId, list[Settled]] = defaultdict(list)
    for one in sorted(settled, key=lambda one: one.pair_id):
        by_query[one.query_id].append(one)
    rng = random.Random(seed)
    order = sorted(by_query)
    rng.shuffle(order)
    order.sort(key=lambda query: -min(len(by_query[query]), pairs))  # stable: the seed decides among equals
    return [
        item
        for query in sorted(order[:queries])
        for item in rng.sample(by_query[query], min(pairs, len(by_query[query])))
    ]
