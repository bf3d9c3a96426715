"""Decide when a person meets a gold question, which pair it is, and what follows from their answers."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import blake2b
from math import floor, log1p

from backend.campaign.qualification.answers.rules import KnownPair, missed
from backend.campaign.setup.project.model import GoldSettings
from backend.campaign.setup.project.setting_entries import MOST_GOLD
from backend.core.ids import AnnotatorId, PairId

MOST_SHARE = MOST_GOLD
"""More than every other pair would be no work."""

APART = 3
"""So many of their own pairs lie at least between a gold pair and what follows from it."""


class Consequence(StrEnum):
    """What follows from somebody's answers."""

    WARNED = "warned"
    PAUSED = "paused"


def _chance(*of: object) -> float:
    """A number in [0, 1) that looks drawn, and is the same for the same things."""
    digest = blake2b(":".join(map(str, of)).encode(), digest_size=7).digest()  # 56 bits: 53 are kept
    return (int.from_bytes(digest) >> 3) / 2**53


def gap(key: str, me: AnnotatorId, nth: int, share: float) -> int:
    """How many pairs after the gold pair before it (itself included) a person's `nth` gold pair comes; 1 or more.

    Gaps have no memory: whatever came before, every pair is gold with the chance `share`. So their mean is 1 / share,
    and no count tells when the next one comes.

    Args:
        key: the campaign's.
        me: the person.
        nth: how many they were offered before.
        share: above 0, at most `MOST_SHARE`.

    >>> gaps = [gap("k", AnnotatorId(1), nth, 0.05) for nth in range(10_000)]
    >>> min(gaps), round(sum(gaps) / len(gaps))
    (1, 20)
    """
    return 1 + floor(log1p(-_chance(key, "gap", me, nth)) / log1p(-share))


def choose(fit: Iterable[KnownPair], key: str, me: AnnotatorId, nth: int) -> PairId | None:
    """A person's `nth` gold pair, of those that they have not seen; None if there is none.

    First the grade, each that there is as likely as the others, then a pair of it: where most pairs are of one grade,
    always pressing that one must not do.
    """
    by_grade: defaultdict[int, list[PairId]] = defaultdict(list)
    for one in fit:
        by_grade[one.right].append(one.pair_id)
    if not by_grade:
        return None
    grade = min(by_grade, key=lambda grade: (_chance(key, "grade", me, nth, grade), grade))
    return min(by_grade[grade], key=lambda pair: (_chance(key, "pair", me, pair), pair))


def draw(known: Iterable[KnownPair], pairs: int, key: str) -> list[KnownPair]:
    """At most so many pairs to choose gold from, as evenly over their grades as there are pairs."""
    by_grade: defaultdict[int, list[KnownPair]] = defaultdict(list)
    for one in sorted(known):
        by_grade[one.right].append(one)
    rng = random.Random(key)
    for of_grade in by_grade.values():
        rng.shuffle(of_grade)
    turns = [(place, grade, one) for grade, ones in by_grade.items() for place, one in enumerate(ones)]
    return sorted(one for _, _, one in sorted(turns)[:pairs])


def accuracy(within: Sequence[bool], settings: GoldSettings) -> float | None:
    """Percent of the last answers that are within the tolerance; None while there are too few to say anything."""
    last = within[-settings.window :]
    return 100 * sum(last) / len(last) if len(last) >= settings.fewest else None


def consequence(within: Sequence[bool], settings: GoldSettings, *, warned: bool) -> Consequence | None:
    """What follows from somebody's answers.

    Below the warning level somebody is warned, and the count begins afresh. Below the pause level they are paused; so
    are they where a warning did not help: below the warning level again before a whole window was not.

    Args:
        within: whether each answer was within the tolerance, since the last consequence; the oldest first.
        settings: window, fewest answers and levels.
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
    """The one grade that would be right most often if it was always given, and in how many percent of the gold.

    Each right grade counts alike, as gold is chosen.

    >>> from backend.core.ids import QueryId
    >>> constant([KnownPair(PairId(n), n, QueryId(1)) for n in range(5)], range(5), 1)
    (1, 60.0)
    """
    there = sorted({one.right for one in known})
    shares = {
        grade: 100 * (len(there) - missed(((grade, right) for right in there), tolerance)) / max(len(there), 1)
        for grade in grades
    }
    best = max(shares, key=lambda grade: (shares[grade], -grade))
    return best, shares[best]
