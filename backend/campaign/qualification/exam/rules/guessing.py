"""Compute what an exam comes to for somebody who does not look: one grade throughout, or grades by chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.campaign.qualification.answers.rules import missed as count_missed
from backend.campaign.qualification.exam.rules.marking import passes
from backend.core.errors import ProjectError
from backend.core.messages import joined, said

MARGIN = 10.0
"""A guess that misses at most this much more than may be missed, in percent of the answers, is near passing."""
LUCK = 0.05
"""Grades by chance may pass with at most this probability."""


@dataclass(frozen=True, slots=True)
class Constant:
    """One and the same grade throughout: how many answers miss, whether that passes, or is near passing."""

    grade: int
    missed: int
    passed: bool
    near: bool


@dataclass(frozen=True, slots=True)
class Guesses:
    """What an exam of so many `items` comes to without looking, and what is wrong with that.

    `chance` draws each answer from the grades of the scale, all equally likely: it misses the share `chance_missed`
    of the answers on average, 0 to 1, and passes with the probability `chance_passes`. `weak` says in words why this
    exam tells too little; it is empty where neither a constant nor chance passes or is near passing.
    """

    items: int
    most_missed: float
    constants: tuple[Constant, ...]
    chance_missed: float
    chance_passes: float
    weak: tuple[str, ...]


def guesses(key: Sequence[int], grades: Sequence[int], most_missed: float, tolerance: int) -> Guesses:
    """What every constant and chance score in an exam, exactly.

    Chance misses an item whose key is k with the probability 1 - |{g : |g - k| <= tolerance}| / |grades|; how many
    it misses follows the Poisson binomial distribution of these, which is convolved item by item.

    Source: Y. H. Wang, "On the number of successes in independent trials", Statistica Sinica 3 (1993).

    Args:
        key: the right grade of each item, at least one.
        grades: those of the campaign's scale.
        most_missed: percent of the answers that may miss, 0 to 100.
        tolerance: how far an answer may be from the key and still agree.

    Of four answers one may miss. Always 0 and always 1 agree with three zeros; chance, which agrees with a key of 0
    in 2 of 5, passes with 4 * .4^3 * .6 + .4^4:

    >>> found = guesses([0, 0, 0, 4], range(5), 25, 1)
    >>> [one.missed for one in found.constants]
    [1, 1, 4, 3, 3]
    >>> [one.grade for one in found.constants if one.passed]
    [0, 1]
    >>> round(found.chance_missed, 9), round(found.chance_passes, 9)
    (0.6, 0.1792)
    """
    if not key:
        raise ValueError("an exam without items has no key")
    n, constants = len(key), []
    for grade in grades:
        missed = count_missed(((grade, right) for right in key), tolerance)
        near = 100 * missed <= (most_missed + MARGIN) * n
        constants.append(Constant(grade, missed, passes(missed, n, most_missed), near))
    chance = [count_missed(((grade, right) for grade in grades), tolerance) / len(grades) for right in key]
    likely = np.ones(1)
    for p in chance:
        likely = np.convolve(likely, [1 - p, p])
    luck = float(likely[[passes(missed, n, most_missed) for missed in range(n + 1)]].sum())
    share = sum(chance) / n
    return Guesses(
        n, most_missed, tuple(constants), share, min(luck, 1.0), _weak(constants, n, most_missed, share, luck)
    )


def require_telling(found: Guesses, although: str) -> None:
    """Refuse an exam that a constant or chance passes, or nearly, unless somebody says why it is held all the same.

    Args:
        found: what guessing comes to.
        although: the reason, which belongs in the record; blank for none.

    Raises:
        ProjectError: the exam is weak and there is no reason.
    """
    if found.weak and not although.strip():
        raise ProjectError(
            said(
                "this exam tells too little about who takes it: {weak}. Draw other pairs, more of them, or let fewer "
                "miss; or give a reason why it is held all the same",
                weak=joined("; ", found.weak),
            )
        )


def _weak(constants: Sequence[Constant], n: int, most_missed: float, missed: float, luck: float) -> tuple[str, ...]:
    found = []
    near = said("within {margin:g} % of the {most_missed:g} % that may miss", margin=MARGIN, most_missed=most_missed)
    for one in constants:
        if one.near:
            how = said(" and would pass") if one.passed else said(", {near}", near=near)
            found.append(
                said("always {grade} misses {missed} of {n}{how}", grade=one.grade, missed=one.missed, n=n, how=how)
            )
    if luck > LUCK:
        found.append(
            said(
                "grades by chance would pass {passed:.3g} % of the time, more than {most:g} %",
                passed=100 * luck,
                most=100 * LUCK,
            )
        )
    elif 100 * missed <= most_missed + MARGIN:
        found.append(said("grades by chance miss {missed:.0f} % on average, {near}", missed=100 * missed, near=near))
    return tuple(found)
