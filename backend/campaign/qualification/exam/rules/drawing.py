"""Draw the pairs of an exam or a calibration round."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.exam.rules.spreading import even_out, even_queries
from backend.core.ids import PairId, QueryId


def draw(settled: Iterable[KnownPair], *, queries: int, pairs: int, seed: int, spread: bool = True) -> list[KnownPair]:
    """The items of an exam: a seeded sample of queries, and of the settled pairs of each.

    Queries that have enough settled pairs come before those that have fewer; fewer items come out where the project
    has no more. Where the draw is to `spread`, it is as even over the grades as these queries and pairs allow
    (`spreading`), and the seed decides among equals; otherwise the seed alone decides.

    >>> there = [KnownPair(PairId(10 * q + n), n, QueryId(q)) for q in (1, 2, 3) for n in range(4)]
    >>> [item.query_id for item in draw(there, queries=2, pairs=2, seed=1)]
    [2, 2, 3, 3]
    >>> draw(there, queries=2, pairs=2, seed=1) == draw(reversed(there), queries=2, pairs=2, seed=1)
    True
    """
    by_query: defaultdict[QueryId, list[KnownPair]] = defaultdict(list)
    for one in sorted(settled, key=lambda one: one.pair_id):
        by_query[one.query_id].append(one)
    rng = random.Random(seed)
    order = sorted(by_query)
    rng.shuffle(order)
    order.sort(key=lambda query: -min(len(by_query[query]), pairs))  # stable: the seed decides among equals
    if not spread:
        taken = {query: rng.sample(by_query[query], min(pairs, len(by_query[query]))) for query in order[:queries]}
        return [item for query in sorted(taken) for item in taken[query]]
    grades = range(max((one.right for ones in by_query.values() for one in ones), default=-1) + 1)

    def count(ones: Iterable[KnownPair]) -> list[int]:
        counts = Counter(one.right for one in ones)
        return [counts[grade] for grade in grades]

    stock = {query: count(there) for query, there in by_query.items()}
    chosen = even_queries(stock, order, queries, pairs)
    numbers = [count(rng.sample(by_query[query], min(pairs, len(by_query[query])))) for query in chosen]
    even_out([stock[query] for query in chosen], numbers)
    items: list[KnownPair] = []
    for query, number in sorted(zip(chosen, numbers, strict=True)):
        some = [
            one
            for grade in grades
            for one in rng.sample([one for one in by_query[query] if one.right == grade], number[grade])
        ]
        items += rng.sample(some, len(some))
    return items


class Open(NamedTuple):
    """A pair that nobody has graded or holds."""

    query_id: QueryId
    pair_id: PairId
    rank: int


def draw_top(open_pairs: Iterable[Open], *, queries: int, pairs: int, seed: int) -> list[Open]:
    """The items of an exam before anything is settled: a seeded sample of queries, the top candidates of each.

    Queries that have enough open pairs come before those that have fewer.

    >>> there = [Open(QueryId(q), PairId(10 * q + n), n) for q in (1, 2, 3) for n in (3, 1, 2)]
    >>> [(item.query_id, item.rank) for item in draw_top(there, queries=2, pairs=2, seed=1)]
    [(2, 1), (2, 2), (3, 1), (3, 2)]
    """
    by_query: defaultdict[QueryId, list[Open]] = defaultdict(list)
    for one in sorted(open_pairs, key=lambda one: (one.query_id, one.rank, one.pair_id)):
        by_query[one.query_id].append(one)
    rng = random.Random(seed)
    order = sorted(by_query)
    rng.shuffle(order)
    order.sort(key=lambda query: -min(len(by_query[query]), pairs))  # stable: the seed decides among equals
    return [item for query in sorted(order[:queries]) for item in by_query[query][:pairs]]
