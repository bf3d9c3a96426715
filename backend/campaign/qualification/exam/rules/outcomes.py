"""Compute how people did in an exam, each and together, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from backend.campaign.qualification.answers.rules import misses
from backend.core.messages import said
from backend.scoring.statistics.agreement import Weights, cohen_kappa, kappas
from backend.scoring.statistics.bootstrap import RESAMPLES, SEED, drawn_patterns, interval
from backend.scoring.statistics.distributions import wilson
from backend.scoring.statistics.resampling import bootstrap_means, percentile_interval

PAPER_MISSED = 0.1183
"""The share of the first grades of TVR-Ranking's annotators that missed consensus with the key, on average."""
PAPER_KAPPA = 0.49
"""The mean of Cohen's kappa of TVR-Ranking's annotators with the key."""
_NOTHING = said("nothing was answered")
MOST_UNDEFINED = 0.05
"""Where a kappa is undefined in more of the resamples than this, it gets no interval."""


class Answer(NamedTuple):
    """One item as somebody answered it at first: `again` is what they gave when it was explained to them."""

    own: int
    right: int
    again: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure over `n` answers or people with its interval of 95 %. What is None is undefined; `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a first attempt went, or the mean over people of how theirs did.

    `missed_first` and `missed_after` are shares of the answers, 0 to 1: of those handed in, and of the same with what
    was missed answered once more after it was explained. The kappas are Cohen's, between what was handed in and the
    key. `missed` and `answers` count what was handed in, of all people together.
    """

    answers: int
    missed: int
    missed_first: Estimate
    missed_after: Estimate
    kappa: Estimate
    kappa_quadratic: Estimate


def outcome(answers: Sequence[Answer], tolerance: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Outcome:
    """How one attempt went.

    Shares have Wilson's interval, kappas the percentile bootstrap interval over the items.

    Args:
        answers: every item that was answered.
        tolerance: how far an answer may be from the key and still agree.
        resamples: of the items, for the intervals of kappas.
        seed: of the resamples.

    >>> found = outcome([Answer(4, 4, None), Answer(0, 4, 3), Answer(1, 1, None), Answer(2, 0, 2)], 1)
    >>> found.missed, found.missed_first.value, found.missed_after.value
    (2, 0.5, 0.25)
    >>> [round(bound, 4) for bound in (found.missed_first.low, found.missed_first.high)]
    [0.15, 0.85]
    """
    wrong = [one for one in answers if misses(one.own, one.right, tolerance)]
    waiting = sum(one.again is None for one in wrong)
    still = sum(one.again is not None and misses(one.again, one.right, tolerance) for one in wrong)
    n = len(answers)
    after = _share(still, n)
    if waiting:
        why = said("{n} of {missed} missed clips not looked at again yet", n=waiting, missed=len(wrong))
        after = Estimate(None, None, None, n, why)
    own, right = (np.array([one[column] for one in answers], dtype=np.int64) for column in (0, 1))
    plain, quadratic = (_kappa(own, right, weights, resamples, seed) for weights in ("plain", "quadratic"))
    return Outcome(n, len(wrong), _share(len(wrong), n), after, plain, quadratic)


def together(outcomes: Sequence[Outcome], *, resamples: int = RESAMPLES, seed: int = SEED) -> Outcome:
    """The mean over people of every figure, each person with one voice, with a bootstrap interval over the people.

    Who has no value in a figure is left out of its mean; `n` says how many people are in it.
    """

    def mean(each: Sequence[Estimate]) -> Estimate:
        values = np.array([one.value for one in each if one.value is not None])
        if not values.size:
            return Estimate(
                None, None, None, 0, said("nobody has a value") if each else said("nobody has handed an exam in yet")
            )
        if values.size == 1:
            return Estimate(float(values[0]), None, None, 1, said("one person alone has no interval"))
        low, high = percentile_interval(bootstrap_means(values, resamples=resamples, seed=seed))
        return Estimate(float(values.mean()), float(low), float(high), values.size)

    return Outcome(
        sum(one.answers for one in outcomes),
        sum(one.missed for one in outcomes),
        mean([one.missed_first for one in outcomes]),
        mean([one.missed_after for one in outcomes]),
        mean([one.kappa for one in outcomes]),
        mean([one.kappa_quadratic for one in outcomes]),
    )


def _share(hits: int, n: int) -> Estimate:
    return Estimate(hits / n, *wilson(hits, n), n) if n else Estimate(None, None, None, 0, _NOTHING)


def _kappa(own: np.ndarray, right: np.ndarray, weights: Weights, resamples: int, seed: int) -> Estimate:
    found = cohen_kappa(own, right, weights)
    if found.value is None:
        return Estimate(None, None, None, found.n, found.reason if found.n else _NOTHING)
    grades = int(max(own.max(), right.max())) + 1
    table = np.bincount(own * grades + right, minlength=grades**2)
    # Items with the same answer and the same key cannot be told apart: a resample is how many of each kind it holds.
    drawn = drawn_patterns(table, resamples=resamples, seed=seed).reshape(-1, grades, grades)
    samples = kappas(drawn, weights)
    undefined = float(np.isnan(samples).mean())
    bounds = interval(samples)
    if undefined > MOST_UNDEFINED or bounds is None:
        why = said("undefined in {share:.0f} % of the resamples, so it has no interval", share=100 * undefined)
        return Estimate(found.value, None, None, found.n, why)
    return Estimate(found.value, *bounds, found.n)
