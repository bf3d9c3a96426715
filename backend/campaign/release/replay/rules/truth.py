"""Compute the relevance of each pair from some of its grades, by the consensus rule."""

import numpy as np

from backend.campaign.monitoring.quality.rules.pairs import UNDECIDED, patterns
from backend.campaign.release.replay.model import Codes, GivenGrades
from backend.core.timespan import Flags
from backend.scoring.statistics.agreement import count_grades


def relevance_of(given: GivenGrades, used: Flags) -> Codes:
    """Return the relevance of each pair if only the used grades had been given, -1 where it has none; shape [pairs].

    The consensus rule (`judging.rules.decide`) gives it. The rule takes two or four grades. If a policy leaves a pair
    one or three, the middle one counts twice, so a single grade stands by itself, and three give their median. A lead's
    decision, and the re-opening of a pair, count only where all grades of the pair are used.

    Args:
        given: the grades of the campaign.
        used: which of them a policy collects, shape [grades].
    """
    kinds = given.highest + 1
    counts = _counts(given, used, kinds)
    number, all_of_pair = counts.sum(axis=1), np.bincount(given.pair)
    dropped = number < all_of_pair
    odd = np.flatnonzero(dropped & (number % 2 == 1))
    middle = (counts[odd].cumsum(axis=1) > (number[odd] // 2)[:, None]).argmax(axis=1)
    counts[odd, middle] += 1
    decided = np.where(dropped, UNDECIDED, given.decided)
    kind = patterns(counts, decided, given.tolerance, given.rounding, given.re_opened & ~dropped)
    relevance: Codes = kind.relevance[kind.of_pair]
    return relevance


def _counts(given: GivenGrades, used: Flags, kinds: int) -> Codes:
    """Return how often each grade was given to each pair by a used grade, shape [pairs, kinds]."""
    counts = np.zeros((given.pairs, kinds), dtype=np.int64)
    found = count_grades(given.pair[used], given.grade[used], kinds)
    counts[: len(found)] = found
    return counts
