"""Rules for gold questions: when an annotator gets one, which pair it is, and what follows from their answers."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import blake2b
from math import floor, log1p

from backend.campaign.qualification.answers.rules import KnownPair, count_misses
from backend.campaign.setup.project.model import GoldSettings
from backend.campaign.setup.project.setting_entries import MOST_GOLD
from backend.core.ids import AnnotatorId, PairId

MOST_SHARE = MOST_GOLD
"""The largest share of gold questions: at more than every other pair, too little real work would be left."""

APART = 3
"""The fewest own pairs between a gold pair and a consequence of its answer."""


class Consequence(StrEnum):
    """A consequence of a person's answers to gold questions."""

    WARNED = "warned"
    PAUSED = "paused"


def _chance(*values: object) -> float:
    """Return a number in [0, 1) that looks random, but is always the same for the same values."""
    digest = blake2b(":".join(map(str, values)).encode(), digest_size=7).digest()  # 56 bits: 53 are kept
    return (int.from_bytes(digest) >> 3) / 2**53


def gap(key: str, me: AnnotatorId, nth: int, share: float) -> int:
    """Return how many pairs after an annotator's last gold question the next one comes; 1 is the very next pair.

    Every pair is a gold question with the probability `share`, whatever came before. So the mean gap is 1 / share, and
    nobody can work out by counting when the next one comes.

    Args:
        key: the campaign's secret key, from which the gaps are drawn.
        me: the annotator.
        nth: how many gold questions they were offered before.
        share: the share of gold questions among all pairs, above 0, at most `MOST_SHARE`.

    >>> gaps = [gap("k", AnnotatorId(1), nth, 0.05) for nth in range(10_000)]
    >>> min(gaps), round(sum(gaps) / len(gaps))
    (1, 20)
    """
    return 1 + floor(log1p(-_chance(key, "gap", me, nth)) / log1p(-share))


def choose(fit: Iterable[KnownPair], key: str, me: AnnotatorId, nth: int) -> PairId | None:
    """Return the next gold question for an annotator; None if `fit` is empty.

    The right grade is drawn first, each grade with the same probability, then a pair with this grade. Otherwise, if
    most pairs had one grade, an annotator could do well by always giving it.

    Args:
        fit: the gold questions that are new to the annotator.
        key: the campaign's secret key, from which the choice is drawn.
        me: the annotator.
        nth: how many gold questions they were offered before.
    """
    by_grade: defaultdict[int, list[PairId]] = defaultdict(list)
    for known in fit:
        by_grade[known.right].append(known.pair_id)
    if not by_grade:
        return None
    grade = min(by_grade, key=lambda grade: (_chance(key, "grade", me, nth, grade), grade))
    return min(by_grade[grade], key=lambda pair: (_chance(key, "pair", me, pair), pair))


def draw(known: Iterable[KnownPair], pairs: int, key: str) -> list[KnownPair]:
    """Draw at most `pairs` pairs as gold questions, so that their right grades occur about equally often.

    The campaign's secret `key` decides which.
    """
    by_grade: defaultdict[int, list[KnownPair]] = defaultdict(list)
    for pair in sorted(known):
        by_grade[pair.right].append(pair)
    rng = random.Random(key)
    for of_grade in by_grade.values():
        rng.shuffle(of_grade)
    turns = [(place, grade, pair) for grade, group in by_grade.items() for place, pair in enumerate(group)]
    return sorted(pair for _, _, pair in sorted(turns)[:pairs])


def accuracy(within: Sequence[bool], settings: GoldSettings) -> float | None:
    """Return the percentage of an annotator's last answers that are within the tolerance.

    Returns None while there are fewer than `settings.fewest` answers. Only the last `settings.window` are counted.
    """
    last = within[-settings.window :]
    return 100 * sum(last) / len(last) if len(last) >= settings.fewest else None


def consequence(within: Sequence[bool], settings: GoldSettings, *, warned: bool) -> Consequence | None:
    """Return whether an annotator is warned or paused after their answers to gold questions; None for neither.

    Accuracy is the percentage of the annotator's last answers that are within the tolerance. If it is below the pause
    level, they are paused. If it is below the warning level, they are warned, and from then on only newer answers
    count.

    An annotator who was warned before, and is below the warning level again, is paused. They are only warned again if
    their accuracy had recovered: some full window of answers since that warning reached the warning level.

    Args:
        within: whether each answer was within the tolerance, since the last consequence; the oldest first.
        settings: how many last answers count (the window), how many are needed at least, and the two levels.
        warned: whether the last consequence was a warning.

    >>> settings = GoldSettings(True, 0.05, window=20, fewest=10, warn=70, pause=50)
    >>> consequence([True] * 6 + [False] * 4, settings, warned=False).value
    'warned'
    >>> consequence([True] * 6 + [False] * 4, settings, warned=True).value
    'paused'
    >>> consequence([True] * 7 + [False] * 3, settings, warned=True) is None  # 70 % is not below 70 %
    True
    >>> consequence([True] * 4 + [False] * 6, settings, warned=False).value
    'paused'
    >>> consequence([False] * 9, settings, warned=False) is None  # too few to say
    True
    """
    share = accuracy(within, settings)
    if share is None or share >= settings.warn:
        return None
    whole = range(len(within) - settings.window + 1)
    recovered = any(100 * sum(within[n : n + settings.window]) >= settings.warn * settings.window for n in whole)
    if share < settings.pause or (warned and not recovered):
        return Consequence.PAUSED
    return Consequence.WARNED


def constant(known: Iterable[KnownPair], grades: Sequence[int], tolerance: int) -> tuple[int, float]:
    """Return the grade that would be right most often if it was always given, and its percentage of right answers.

    Every right grade has the same weight, however many pairs have it: gold questions ask all right grades equally
    often.

    >>> from backend.core.ids import QueryId
    >>> constant([KnownPair(PairId(n), n, QueryId(1)) for n in range(5)], range(5), 1)
    (1, 60.0)
    """
    right_grades = sorted({pair.right for pair in known})
    shares = {
        grade: 100
        * (len(right_grades) - count_misses(((grade, right) for right in right_grades), tolerance))
        / max(len(right_grades), 1)
        for grade in grades
    }
    best = max(shares, key=lambda grade: (shares[grade], -grade))
    return best, shares[best]
