"""Draw the pairs of an exam or a calibration round, so that each right grade occurs about equally often."""

import random
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, combinations, islice, product, repeat
from math import comb
from typing import NamedTuple

from backend.campaign.qualification.answers.rules import KnownPair
from backend.core.ids import PairId, QueryId


def draw(settled: Iterable[KnownPair], *, queries: int, pairs: int, seed: int, spread: bool = True) -> list[KnownPair]:
    """Draw the items of an exam: a random sample of queries, and of the settled pairs (with a final grade) of each.

    Queries that have enough settled pairs are preferred to those that have fewer. If the project has too few pairs, the
    exam has fewer items. With `spread`, the draw makes the numbers of items of each right grade as equal as possible,
    and the seed decides among equally good draws. Without `spread`, the seed alone decides.

    >>> there = [KnownPair(PairId(10 * q + n), n, QueryId(q)) for q in (1, 2, 3) for n in range(4)]
    >>> [item.query_id for item in draw(there, queries=2, pairs=2, seed=1)]
    [2, 2, 3, 3]
    >>> draw(there, queries=2, pairs=2, seed=1) == draw(reversed(there), queries=2, pairs=2, seed=1)
    True
    """
    by_query: defaultdict[QueryId, list[KnownPair]] = defaultdict(list)
    for pair in sorted(settled, key=lambda pair: pair.pair_id):
        by_query[pair.query_id].append(pair)
    rng = random.Random(seed)
    order = sorted(by_query)
    rng.shuffle(order)
    order.sort(key=lambda query: -min(len(by_query[query]), pairs))  # stable: the seed decides among equals
    if not spread:
        taken = {query: rng.sample(by_query[query], min(pairs, len(by_query[query]))) for query in order[:queries]}
        return [item for query in sorted(taken) for item in taken[query]]
    grades = range(max((pair.right for members in by_query.values() for pair in members), default=-1) + 1)

    def count(members: Iterable[KnownPair]) -> list[int]:
        counts = Counter(pair.right for pair in members)
        return [counts[grade] for grade in grades]

    stock = {query: count(available) for query, available in by_query.items()}
    chosen = even_queries(stock, order, queries, pairs)
    numbers = [count(rng.sample(by_query[query], min(pairs, len(by_query[query])))) for query in chosen]
    even_out([stock[query] for query in chosen], numbers)
    items: list[KnownPair] = []
    for query, number in sorted(zip(chosen, numbers, strict=True)):
        of_query = [
            pair
            for grade in grades
            for pair in rng.sample([pair for pair in by_query[query] if pair.right == grade], number[grade])
        ]
        items += rng.sample(of_query, len(of_query))
    return items


def draw_retake(
    exam_pairs: Iterable[KnownPair],
    further_pairs: Iterable[KnownPair],
    seen: Collection[PairId],
    explained: Mapping[PairId, int],
    seed: int,
) -> list[KnownPair]:
    """Draw the items of a retake: as many of each right grade as the exam has, preferring pairs new to the annotator.

    Pairs that the annotator has not graded come first, and among them pairs of queries with many such pairs. Next come
    graded pairs that were not explained to them. Explained pairs come last, those explained longest ago first. The seed
    decides among pairs that are equal in all this.

    Args:
        exam_pairs: the items of the exam.
        further_pairs: other pairs to choose from.
        seen: pairs that this annotator has graded.
        explained: maps a pair to the number of the attempt, from 1, after which it was last explained to the annotator.
        seed: decides among equally good pairs.

    Three pairs have the right grade 4. The retake asks the new one, then the one that was not explained:

    >>> one, two, new = (KnownPair(PairId(n), 4, QueryId(1)) for n in (1, 2, 3))
    >>> [known.pair_id for known in draw_retake([one, two], [new], {1, 2}, {1: 1}, seed=1)]
    [3, 2]
    """
    exam_pairs = list(exam_pairs)
    pool = {known.pair_id: known for known in (*further_pairs, *exam_pairs)}
    new = Counter(known.query_id for known in pool.values() if known.pair_id not in seen)
    rng = random.Random(seed)

    def order(known: KnownPair) -> tuple[int, int, float]:
        if known.pair_id not in seen:
            return -1, -new[known.query_id], rng.random()
        return explained.get(known.pair_id, 0), 0, rng.random()

    ordered = sorted((pool[pair] for pair in sorted(pool)), key=order)
    numbers = Counter(known.right for known in exam_pairs)
    return [
        known
        for right in sorted(numbers)
        for known in [known for known in ordered if known.right == right][: numbers[right]]
    ]


class Open(NamedTuple):
    """An open pair: nobody has graded it or is grading it. `rank` is its place among its query's candidates, from 1."""

    query_id: QueryId
    pair_id: PairId
    rank: int


def draw_top(open_pairs: Iterable[Open], *, queries: int, pairs: int, seed: int) -> list[Open]:
    """Draw the items of an exam on open pairs (not graded yet): a random sample of queries, and their top candidates.

    Queries that have enough open pairs are preferred to those that have fewer.

    >>> there = [Open(QueryId(q), PairId(10 * q + n), n) for q in (1, 2, 3) for n in (3, 1, 2)]
    >>> [(item.query_id, item.rank) for item in draw_top(there, queries=2, pairs=2, seed=1)]
    [(2, 1), (2, 2), (3, 1), (3, 2)]
    """
    by_query: defaultdict[QueryId, list[Open]] = defaultdict(list)
    for pair in sorted(open_pairs, key=lambda pair: (pair.query_id, pair.rank, pair.pair_id)):
        by_query[pair.query_id].append(pair)
    rng = random.Random(seed)
    order = sorted(by_query)
    rng.shuffle(order)
    order.sort(key=lambda query: -min(len(by_query[query]), pairs))  # stable: the seed decides among equals
    return [item for query in sorted(order[:queries]) for item in by_query[query][:pairs]]


Grades = list[int]
"""The number of pairs with each relevance, from the lowest relevance upwards."""


Stock = Mapping[QueryId, Sequence[int]]
"""The number of settled pairs with each relevance, by query; the list has the same length for all queries."""


SETS = 500
"""The largest number of sets of queries that are all tried. If there are more, a local search swaps queries."""


_FILLED = 5_000
"""The most queries that the local search fills anew, so that a draw takes less than a second."""


_PROMISING = 30
"""A round of the local search tries swaps between this many of the most promising queries on either side."""


def unevenness(counts: Iterable[int]) -> int:
    """Return how unevenly grades occur, as the sum of their squared counts; smaller is more even for equal totals.

    >>> unevenness([2, 2, 2]) < unevenness([3, 2, 1]) < unevenness([6, 0, 0])
    True
    """
    return sum(count * count for count in counts)


def even_queries(stock: Stock, order: Sequence[QueryId], queries: int, pairs: int) -> list[QueryId]:
    """Choose the queries of an exam so that its right grades occur as equally often as possible.

    The exam gets as many items as possible, so queries with more pairs come first. Of each query, at most `pairs` pairs
    are counted. Among queries with equally many pairs, the most even combination is chosen. All combinations
    are compared if there are at most `SETS`. Otherwise a local search replaces one query at a time, for as long as this
    helps.

    Args:
        stock: how many pairs of each relevance (final grade) each query has.
        order: the queries to choose from; of equally good queries, the earlier one is chosen.
        queries: how many queries to return.
        pairs: the most pairs of each query.

    One of two queries is to be chosen. Query 1 has two pairs of relevance 0, query 2 has one pair each of 0 and 1:

    >>> even_queries({QueryId(1): [2, 0], QueryId(2): [1, 1]}, [QueryId(1), QueryId(2)], 1, 2)
    [2]
    """
    size = {query: min(sum(stock[query]), pairs) for query in order}
    ranked = sorted(order, key=lambda query: -size[query])
    chosen = ranked[:queries]
    if len(chosen) == len(ranked) or not chosen:
        return chosen
    last = size[chosen[-1]]
    fixed = [query for query in chosen if size[query] > last]
    free = [query for query in ranked if size[query] == last]
    places = len(chosen) - len(fixed)

    if comb(len(free), places) <= SETS:
        sets = ([*fixed, *candidates] for candidates in combinations(free, places))
        return min(
            sets, key=lambda candidates: unevenness(_totals(fill([stock[query] for query in candidates], pairs)))
        )
    return _local_search(stock, fixed, free, places, pairs)


def fill(stocks: Sequence[Sequence[int]], pairs: int) -> list[Grades]:
    """Return, for each query, how many of its pairs of each relevance (final grade) to draw.

    At most `pairs` are drawn of each query. Over all queries together, each relevance is drawn about equally often, as
    far as the queries allow. `stocks` lists, for each query, how many pairs of each relevance it has.

    >>> fill([[3, 0], [3, 3]], 2)
    [[2, 0], [0, 2]]
    """
    totals = [0] * len(stocks[0])
    taken = []
    for have in stocks:
        take = [0] * len(have)
        for _ in range(min(sum(have), pairs)):
            scarce = min((g for g in range(len(have)) if take[g] < have[g]), key=totals.__getitem__)
            take[scarce] += 1
            totals[scarce] += 1
        taken.append(take)
    even_out(stocks, taken)
    return taken


def even_out(stocks: Sequence[Sequence[int]], taken: Sequence[Grades]) -> None:
    """Change which pairs are drawn within queries, so that every relevance (final grade) is drawn about equally often.

    The result has the least `unevenness` that is possible with the same number of pairs per query. It is reached by
    exchanges, which replace drawn pairs by pairs of the same queries with another relevance.

    Reason: the totals by relevance that exchanges can reach form the base of an integral polymatroid. On such a base,
    the sum of squares is least if no exchange of one unit lowers it (the optimality criterion of K. Murota, Discrete
    Convex Analysis, 2003).

    Args:
        stocks: for each query, how many pairs of each relevance it has.
        taken: how many of these pairs are drawn; changed in place. The number of pairs of each query stays the same.
    """
    while (exchanges := _exchanges(stocks, taken)) is not None:
        for query, away, to in exchanges:
            taken[query][away] -= 1
            taken[query][to] += 1


def _local_search(
    stock: Stock, fixed: Sequence[QueryId], free: Sequence[QueryId], places: int, pairs: int
) -> list[QueryId]:
    """Choose the queries of an exam by a local search that makes its right grades occur about equally often.

    Returns all queries of `fixed`, and `places` queries out of `free`. Each step replaces one chosen query of `free` by
    one that is not chosen, if this makes the grades more even. Replacements that add rare grades are tried first. The
    search ends when none of those tried helps, or after a limited number of tries.
    """
    chosen, left = list(free[:places]), _FILLED // (len(fixed) + places)

    def totals() -> Grades:
        return _totals(fill([stock[query] for query in (*fixed, *chosen)], pairs))

    prices = totals()
    least = -(-(sum(prices) ** 2) // len(prices))  # of items that all grades share evenly
    helped = True
    while helped and left > 0 and unevenness(prices) > least:
        best, helped = unevenness(prices), False

        def cost(query: QueryId, prices: Grades = prices) -> int:
            dear_last = sorted(range(len(prices)), key=prices.__getitem__)
            each = chain.from_iterable(repeat(prices[g], stock[query][g]) for g in dear_last)
            return sum(islice(each, pairs))

        current = set(chosen)
        away = sorted(chosen, key=cost, reverse=True)[:_PROMISING]
        to = sorted((query for query in free if query not in current), key=cost)[:_PROMISING]
        for new, old in islice(product(to, away), left):
            left -= 1
            place = chosen.index(old)
            chosen[place] = new
            new_totals = totals()
            if unevenness(new_totals) < best:
                prices, helped = new_totals, True
                break
            chosen[place] = old
    return [*fixed, *chosen]


def _totals(taken: Sequence[Grades]) -> Grades:
    return [sum(column) for column in zip(*taken, strict=True)]


def _exchanges(stocks: Sequence[Sequence[int]], taken: Sequence[Grades]) -> list[tuple[int, int, int]] | None:
    """Return a chain of exchanges that makes the grades of the drawn pairs more even; None if there is none.

    Each exchange is (index of the query, grade to remove, grade to add). Together they change two totals: one grade
    loses an item, and a grade with at least two items fewer gains one.
    """
    totals = _totals(taken)
    for start in sorted(range(len(totals)), key=lambda g: -totals[g]):
        came: dict[int, tuple[int, int, int]] = {}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            if totals[start] - totals[here] >= 2:
                exchanges = []
                while here != start:
                    exchanges.append(came[here])
                    here = came[here][1]
                return exchanges
            for to in range(len(totals)):
                if to != start and to not in came:
                    for query, (have, take) in enumerate(zip(stocks, taken, strict=True)):
                        if take[here] and take[to] < have[to]:
                            came[to] = (query, here, to)
                            waiting.append(to)
                            break
    return None
