"""Policies that collect fewer grades. Each returns which of the given grades it would have collected.

A policy sees only what it could have known at that time, with one exception: `raters` ranks annotators by all their
grades, as a lead could after a pilot. Queries come in the order of the file of pairs.
"""

import numpy as np

from backend.campaign.monitoring.quality.rules.people import others_mean
from backend.campaign.release.replay.model import Codes, Evidence, Policy
from backend.campaign.selection.batches.model import BatchRule, RuleWord, rule_reading
from backend.core.timespan import Flags, Floats
from backend.scoring.measures.ndcg import ideal_dcg
from backend.scoring.statistics.distributions import TIE

LEAST_DOUBLE = 20
"""How many doubly graded pairs `single` must have seen of an annotator and grade before it trusts their agreement."""
LAST = 5
"""How many of a query's last pairs `settled` and `batches` look at, as TVR-Ranking's lead did."""


def single(evidence: Evidence, chance: float) -> Flags:
    """Ask for one grade where the first annotator's grade is likely enough to be agreed with.

    For each annotator and grade, count the earlier pairs that they graded first so, and how many of them the second
    annotator agreed with, within the tolerance. The chance that the next one agrees is (agreed + 1) / (pairs + 2),
    Laplace's rule of succession. Once it reaches `chance`, after 20 pairs or more, later pairs get this one grade.
    Pairs that one annotator graded twice are no evidence.

    With 19 of 20 agreed, the chance is 20 / 22 = 0.909.
    """
    given = evidence.given
    seat, begin = given.seat, np.searchsorted(given.pair, np.arange(given.pairs))
    size = np.bincount(given.pair)
    double = np.flatnonzero(size >= 2)
    first, second = begin[double], begin[double] + 1
    cell = given.annotator[first] * (given.highest + 1) + given.grade[first]
    order = np.argsort(cell, kind="stable")
    counts = (given.annotator[first] != given.annotator[second])[order]
    agreed = (np.abs(given.grade[first] - given.grade[second]) <= given.tolerance)[order] & counts
    ranked = cell[order]
    start = np.searchsorted(ranked, ranked)
    before, hits = _before(counts, start), _before(agreed, start)
    reached = (before >= LEAST_DOUBLE) & ((hits + 1) / (before + 2) >= chance)
    # From the first pair of a cell that reaches the chance, all later ones of the cell get one grade.
    stopped = _before(reached, start) + reached > 0
    alone = np.zeros(given.pairs, dtype=bool)
    alone[double[order]] = stopped
    return np.asarray(~alone[given.pair] | (seat == 0))


def _before(flags: Flags, start: Codes) -> Codes:
    """Return how many flags are set before each place, from the beginning of its group on; `start` has where it is."""
    total = np.cumsum(np.append(False, flags))
    before: Codes = total[:-1] - total[start]
    return before


def settled(evidence: Evidence, epsilon: float) -> Flags:
    """Stop a query when its ideal DCG at the measure's cut-off can hardly rise any more.

    After each pair, in rank order, compare two ideal DCGs: L of the pairs graded so far, and U of these and the
    remaining ones, each taken to be as relevant as the best of the last five. Stop when U - L <= epsilon * U, after
    five pairs or more.

    Relevances 4, 0, 0, 0, 0, 0 and one pair to go: the best of the last five is 0, so U = L and the query stops.
    """
    given, relevance = evidence.given, evidence.relevance
    position, queries = given.position, int(given.query[-1]) + 1
    longest = int(position.max()) + 1
    table = np.full((queries, longest), -1)
    table[given.query, position] = relevance
    stop = np.full(queries, longest)

    def ideal(of: Codes) -> Floats:
        shown = of >= 0
        return np.asarray(ideal_dcg(given.query[shown], of[shown], queries, [evidence.k], evidence.gain)[0])

    for n in range(LAST, longest):
        best = table[:, n - LAST : n].max(axis=1)
        best[best < 0] = given.highest  # nothing is known of the last five
        later = position >= n
        low = ideal(np.where(later, -1, relevance))
        high = ideal(np.where(later, best[given.query], relevance))
        stop = np.where((stop == longest) & (high - low <= epsilon * high + TIE), n, stop)
    return np.asarray((position < stop[given.query])[given.pair])


def batches(evidence: Evidence, mean: float) -> Flags:
    """Open a query's next batch only if the last five pairs of the batch before have this mean relevance or more.

    The rule is that of next batches (`selection.batches`). Where it cannot tell, because too few of the five have a
    relevance, the batch is opened as it was.
    """
    given = evidence.given
    rule = BatchRule(LAST, mean, None, given.highest)
    kept = np.ones(given.pairs, dtype=bool)
    edges = np.flatnonzero(np.diff(given.query, prepend=-1, append=-1))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        relevances = [None if value < 0 else value for value in evidence.relevance[begin:end].tolist()]
        number = given.batch[begin:end]
        for batch in np.unique(number)[1:].tolist():
            before = int(np.searchsorted(number, batch))
            if rule_reading(rule, relevances[:before]).word is RuleWord.LEAVE:
                kept[begin + before : end] = False
                break
    return kept[given.pair]


def raters(evidence: Evidence, dropped: float) -> Flags:
    """Leave out all grades of the annotators who differ most from the others.

    An annotator's unreliability is the mean absolute difference between each of their grades and the mean of the
    others' grades of the same pair. `dropped` is how many annotators are left out. Those who share no pair with others
    stay.
    """
    given = evidence.given
    distance = np.abs(given.grade - others_mean(given.pair, given.annotator, given.grade))
    known = ~np.isnan(distance)
    people = int(given.annotator.max(initial=-1)) + 1
    shared = np.bincount(given.annotator[known], minlength=people)
    total = np.bincount(given.annotator[known], distance[known], minlength=people)
    mean = np.divide(total, shared, out=np.full(people, -1.0), where=shared > 0)
    worst = np.argsort(-mean, kind="stable")[: int(dropped)]
    return ~np.isin(given.annotator, worst[shared[worst] > 0])


def active(evidence: Evidence, share: float) -> Flags:
    """Grade the share of pairs that can change the order of the systems most.

    A pair that system s finds at rank r adds its gain / log2(r + 1) to the DCG of s, and nothing beyond the cut-off. So
    it can move two systems apart by the difference of their discounts. A pair's weight is the sum of these differences
    over all pairs of systems. Pairs of equal weight come in rank order. No grade has to be known for this. Source:
    Carterette, Allan and Sitaraman, Minimal test collections for retrieval evaluation, SIGIR 2006, for DCG.

    Found at rank 1 by one of two systems, a pair weighs 1; found at rank 1 by both, it weighs 0.
    """
    rank = evidence.taken_at
    discount = np.where((rank > 0) & (rank <= evidence.k), 1 / np.log2(np.maximum(rank, 1) + 1), 0.0)
    ordered = np.sort(discount, axis=0)
    # In ascending order, the i-th of n values is the larger one in i differences and the smaller one in n - 1 - i.
    weight = (2 * np.arange(len(ordered)) - len(ordered) + 1) @ ordered
    order = np.lexsort((evidence.given.position, -weight))
    return _first(evidence, order, share)


def random(evidence: Evidence, share: float) -> Flags:
    """Grade a random share of the pairs, for comparison."""
    return _first(evidence, evidence.generator.permutation(evidence.given.pairs), share)


def _first(evidence: Evidence, order: Codes, share: float) -> Flags:
    """Return the grades of the first pairs in this order that make up a share of all pairs, rounded up."""
    kept = np.zeros(evidence.given.pairs, dtype=bool)
    kept[order[: int(np.ceil(share * len(order) - 1e-9))]] = True
    return kept[evidence.given.pair]


POLICIES = {
    policy.name: policy
    for policy in (
        Policy(
            "single",
            "one grade where two are likely to agree with chance p",
            (0.7, 0.8, 0.85, 0.9, 0.95),
            lowest=0.0,
            highest=1.0,
            draws=True,
            used=single,
        ),
        Policy(
            "settled",
            "stop a query when its ideal DCG is settled within e",
            (0.02, 0.05, 0.1, 0.15, 0.2, 0.3),
            lowest=0.0,
            highest=1.0,
            draws=False,
            used=settled,
        ),
        Policy(
            "batches",
            "next batch only if the last five have a mean of m",
            (1.0, 1.5, 2.0, 2.5, 3.0),
            lowest=0.0,
            highest=1_000.0,
            draws=False,
            used=batches,
        ),
        Policy(
            "raters",
            "without the n annotators who differ most",
            (1, 2, 4, 6, 8),
            lowest=0.0,
            highest=1_000.0,
            draws=False,
            used=raters,
        ),
        Policy(
            "active",
            "the share of pairs that can change the order of systems most",
            (0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
            lowest=0.0,
            highest=1.0,
            draws=False,
            used=active,
        ),
        Policy(
            "random",
            "a random share of the pairs, for comparison",
            (0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
            lowest=0.0,
            highest=1.0,
            draws=True,
            used=random,
        ),
    )
}
"""The policies by name, in the order in which tables show them."""
