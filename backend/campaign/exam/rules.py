"""The qualification exam as pure functions: which settled pairs make one, and what a person's answers come to."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from backend.campaign.exam.model import ExamResult
from backend.campaign.quality.rules.agreement import cohen_kappa
from backend.ground.ids import PairId, QueryId


class Settled(NamedTuple):
    """A pair whose relevance is known."""

    query_id: QueryId
    pair_id: PairId
    relevance: int


def misses(answer: int, right: int, tolerance: int) -> bool:
    """Whether an answer misses consensus with the key: they agree within the same tolerance as two grades of a pair.

    >>> misses(3, 4, 1), misses(2, 4, 1)
    (False, True)
    """
    return abs(answer - right) > tolerance


def mark(answers: Sequence[tuple[int, int]], most_missed: float, tolerance: int) -> ExamResult:
    """What the answers of one attempt come to.

    An answer misses where |answer - key| > tolerance; the attempt passes if at most `most_missed` percent of its
    answers miss. Kappa is Cohen's, between the answers and the key as if it were a second annotator
    (`backend.campaign.quality.rules.agreement.cohen_kappa`); it decides nothing.

    Source: the qualification of TVR-Ranking's annotators, where 11.83 % of the grades missed at first and the mean
    kappa was 0.49.

    Args:
        answers: (answer, key) of each answered item.
        most_missed: Percent, 0 to 100.
        tolerance: How far two grades may differ and still agree.

    Returns:
        Without any answer nothing is passed.

    >>> result = mark([(4, 4), (3, 4), (0, 0), (1, 4), (2, 2)], 20, 1)
    >>> result.missed, result.passed, round(result.kappa, 9)
    (1, True, 0.5)
    >>> mark([(4, 4), (3, 4), (0, 0), (1, 4)], 20, 1).passed  # 1 of 4 is 25 %
    False
    >>> mark([(2, 2)], 20, 1).undefined
    'both gave one and the same grade throughout'
    """
    missed = sum(misses(answer, right, tolerance) for answer, right in answers)
    given, key = (np.array(column, dtype=np.int64) for column in (list(zip(*answers, strict=True)) or ((), ())))
    plain, quadratic = cohen_kappa(given, key), cohen_kappa(given, key, "quadratic")
    return ExamResult(
        answers=len(answers),
        missed=missed,
        most_missed=most_missed,
        passed=bool(answers) and 100 * missed <= most_missed * len(answers),
        kappa=plain.value,
        kappa_quadratic=quadratic.value,
        undefined=plain.reason,
    )


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
