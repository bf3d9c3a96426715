"""Mark attempts at an exam: whether annotators pass, and how certain their scores are.

The module also computes an exam's answer key from the answers of annotators, and the score that guessing would reach.
Guessing means giving one grade throughout, or grades at random.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from backend.campaign.qualification.answers.rules import count_misses, misses
from backend.campaign.qualification.exam.model import PASS_RULE, ExamResult
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import joined, said
from backend.scoring.statistics.agreement import Weights, cohen_kappa, kappas
from backend.scoring.statistics.bootstrap import RESAMPLES, SEED, drawn_patterns, interval
from backend.scoring.statistics.distributions import wilson
from backend.scoring.statistics.resampling import bootstrap_means, percentile_interval


def passes(missed: int, answers: int, most_missed: float) -> bool:
    """Return whether an attempt passes: it has answers, and at most `most_missed` percent of them are missed.

    >>> passes(1, 5, 20), passes(1, 4, 20), passes(0, 0, 20)
    (True, False, False)
    """
    return answers > 0 and 100 * missed <= most_missed * answers


PASS_RULES: dict[str, Callable[[int, int, float], bool]] = {PASS_RULE: passes}
"""The pass rules by name. An exam keeps the rule it was set with, so a new rule changes no earlier result."""


def mark(answers: Sequence[tuple[int, int]], most_missed: float, tolerance: int, rule: str = PASS_RULE) -> ExamResult:
    """Return the result of an attempt from its answers.

    An answer misses if it differs from the right grade (the key) by more than `tolerance`. The attempt passes if at
    most `most_missed` percent of its answers miss. Cohen's kappa compares the answers with the key as if it were a
    second annotator (`backend.scoring.statistics.agreement.cohen_kappa`). It does not affect whether the attempt
    passes.

    Source: the qualification of TVR-Ranking's annotators, where 11.83 % of the grades missed at first and the mean
    kappa was 0.49.

    Args:
        answers: (answer, right grade) of each answered item.
        most_missed: Percent, 0 to 100.
        tolerance: How far two grades may differ and still agree.
        rule: The name of the pass rule that the exam was set with.

    Returns:
        The misses, whether the attempt passes, and the kappas. An attempt without any answer does not pass.

    Raises:
        ProjectError: This code does not have the rule.

    >>> result = mark([(4, 4), (3, 4), (0, 0), (1, 4), (2, 2)], 20, 1)
    >>> result.missed, result.passed, round(result.kappa, 9)
    (1, True, 0.5)
    >>> mark([(4, 4), (3, 4), (0, 0), (1, 4)], 20, 1).passed  # 1 of 4 is 25 %
    False
    >>> mark([(2, 2)], 20, 1).undefined
    'both gave every pair the same single grade'
    """
    if rule not in PASS_RULES:
        raise ProjectError(
            said(
                "this exam is marked by the rule {rule}, but this ReelRank has {known}: use the ReelRank that "
                "set the exam, or a newer one",
                rule=rule,
                known=", ".join(PASS_RULES),
            )
        )
    missed = count_misses(answers, tolerance)
    own, key = (np.array(column, dtype=np.int64) for column in (list(zip(*answers, strict=True)) or ((), ())))
    plain, quadratic = cohen_kappa(own, key), cohen_kappa(own, key, "quadratic")
    return ExamResult(
        answers=len(answers),
        missed=missed,
        most_missed=most_missed,
        passed=PASS_RULES[rule](missed, len(answers), most_missed),
        kappa=plain.value,
        kappa_quadratic=quadratic.value,
        undefined=plain.reason,
    )


def median(grades: Sequence[int]) -> int:
    """Return the median of some grades; of an even number of grades, the mean of the middle two, rounded up.

    It rounds this way whatever rounding the campaign uses.

    Source: the key of the qualification of TVR-Ranking's annotators.

    Raises:
        ValueError: there is no grade.

    >>> median([4, 0, 1]), median([0, 4, 1, 2]), median([3, 4])
    (1, 2, 4)
    """
    if not grades:
        raise ValueError("there is no median of no grades")
    ordered, half = sorted(grades), len(grades) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half] + 1) // 2


def spread(
    answered: Mapping[PairId, Collection[AnnotatorId]], places: Mapping[PairId, int], seed: int
) -> dict[PairId, list[AnnotatorId]]:
    """Choose whose answers become judgements, with about equally many judgements per annotator.

    The pairs are filled in an order that the seed decides. Each pair takes the annotators who have the fewest
    judgements at that point; the seed decides among equals. No grade is considered, so nobody can select answers that
    agree. The result does not depend on the order of the pairs and annotators in `answered`.

    Args:
        answered: who answered each pair.
        places: how many judgements each pair can take, 0 or more.
        seed: decides the order of the pairs, and among equals.

    Returns:
        The annotators chosen for each pair that can take a judgement and has an answer, in the order of choice.

    >>> spread({PairId(1): [AnnotatorId(7), AnnotatorId(8), AnnotatorId(9)]}, {PairId(1): 2}, seed=1)
    {1: [8, 9]}
    """
    rng, counts = random.Random(seed), Counter[AnnotatorId]()
    order = sorted(answered)
    rng.shuffle(order)
    chosen: dict[PairId, list[AnnotatorId]] = {}
    for pair in order:
        people = sorted(set(answered[pair]))
        rng.shuffle(people)
        people.sort(key=lambda person: counts[person])  # stable: the seed decides among equals
        if taken := people[: places.get(pair, 0)]:
            chosen[pair] = taken
            counts.update(taken)
    return chosen


MARGIN = 10.0
"""A guess nearly passes if it misses at most this much more than the limit, in percent of the answers."""


LUCK = 0.05
"""The highest probability with which grades by chance may pass."""


@dataclass(frozen=True, slots=True)
class Constant:
    """The score of giving every item the same grade: the misses, and whether that passes or nearly passes (`near`)."""

    grade: int
    missed: int
    passed: bool
    near: bool


@dataclass(frozen=True, slots=True)
class Guesses:
    """How well guessing would do in an exam of `items` items, and why the exam is weak.

    `constants` has the score of each grade given throughout. Random grades are drawn from the scale, all equally
    likely. They miss the share `chance_missed` of the answers on average, 0 to 1, and pass with the probability
    `chance_passes`. `weak` has a sentence for each way of guessing that passes or nearly passes; it is empty if none
    does.
    """

    items: int
    most_missed: float
    constants: tuple[Constant, ...]
    chance_missed: float
    chance_passes: float
    weak: tuple[str, ...]


def guesses(key: Sequence[int], grades: Sequence[int], most_missed: float, tolerance: int) -> Guesses:
    """Return how well guessing would do in an exam: each grade given throughout, and grades at random.

    A random grade misses an item with the right grade k with the probability 1 - |{g : |g - k| <= tolerance}| /
    |grades|. The number of misses follows the Poisson binomial distribution with these probabilities, which is computed
    by convolution, item by item.

    Source: Y. H. Wang, "On the number of successes in independent trials", Statistica Sinica 3 (1993).

    Args:
        key: the right grade of each item, at least one.
        grades: the grades of the campaign's scale.
        most_missed: percent of the answers that may miss, 0 to 100.
        tolerance: how far an answer may be from the right grade and still agree.

    In the example, one of four answers may miss. Always 0 and always 1 agree with three zeros. A random grade agrees
    with a key of 0 in 2 of 5 answers, so random grades pass with the probability 4 * .4^3 * .6 + .4^4:

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
        missed = count_misses(((grade, right) for right in key), tolerance)
        near = 100 * missed <= (most_missed + MARGIN) * n
        constants.append(Constant(grade, missed, passes(missed, n, most_missed), near))
    chance = [count_misses(((grade, right) for grade in grades), tolerance) / len(grades) for right in key]
    likely = np.ones(1)
    for p in chance:
        likely = np.convolve(likely, [1 - p, p])
    luck = float(likely[[passes(missed, n, most_missed) for missed in range(n + 1)]].sum())
    share = sum(chance) / n
    return Guesses(
        n, most_missed, tuple(constants), share, min(luck, 1.0), _weak(constants, n, most_missed, share, luck)
    )


def require_telling(scores: Guesses, although: str) -> None:
    """Refuse an exam that can be passed, or nearly passed, by guessing, unless a reason is given.

    Args:
        scores: how well guessing would do.
        although: the reason to hold the exam anyway, which is recorded; blank for none.

    Raises:
        ProjectError: guessing passes or nearly passes, and there is no reason.
    """
    if scores.weak and not although.strip():
        raise ProjectError(
            said(
                "guessing can pass this exam: {weak}. Draw other or more pairs, or allow fewer misses. To "
                "hold it anyway, give a reason",
                weak=joined("; ", scores.weak),
            )
        )


def _weak(constants: Sequence[Constant], n: int, most_missed: float, missed: float, luck: float) -> tuple[str, ...]:
    reasons = []
    near = said("within {margin:g} % of the limit of {most_missed:g} % missed", margin=MARGIN, most_missed=most_missed)
    for constant in constants:
        if constant.near:
            how = said(" and would pass") if constant.passed else said(", {near}", near=near)
            reasons.append(
                said(
                    "grade {grade} throughout misses {missed} of {n}{how}",
                    grade=constant.grade,
                    missed=constant.missed,
                    n=n,
                    how=how,
                )
            )
    if luck > LUCK:
        reasons.append(
            said(
                "random grades would pass {passed:.3g} % of the time, more than {most:g} %",
                passed=100 * luck,
                most=100 * LUCK,
            )
        )
    elif 100 * missed <= most_missed + MARGIN:
        reasons.append(said("random grades miss {missed:.0f} % on average, {near}", missed=100 * missed, near=near))
    return tuple(reasons)


PAPER_MISSED = 0.1183
"""The mean share of first grades of TVR-Ranking's annotators that missed the key."""
PAPER_KAPPA = 0.49
"""The mean Cohen's kappa of TVR-Ranking's annotators with the key."""
_NOTHING = said("nothing was answered")
MOST_UNDEFINED = 0.05
"""A kappa that is undefined in more than this share of the resamples gets no interval."""


class Answer(NamedTuple):
    """A first answer to one item (`own`), its right grade, and the grade given after the explanation, if any."""

    own: int
    right: int
    again: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A statistic over `n` answers or people, with its 95 % interval. Undefined values are None; `reason` says why."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Miss rates and kappas of a first attempt, or their means over several annotators.

    `missed_first` and `missed_after` are shares of the answers, 0 to 1. The first counts the answers as handed in. The
    second takes, for missed items, the answer given after the explanation. Cohen's kappas compare the answers as handed
    in with the answer key. `answers` and `missed` count the answers handed in and those that missed, over all
    annotators.
    """

    answers: int
    missed: int
    missed_first: Estimate
    missed_after: Estimate
    kappa: Estimate
    kappa_quadratic: Estimate


def outcome(answers: Sequence[Answer], tolerance: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Outcome:
    """Return the miss rates and kappas of one attempt, with 95 % intervals.

    Miss rates have Wilson's interval. Kappas have the percentile bootstrap interval over the items.

    Args:
        answers: every item that was answered.
        tolerance: how far an answer may be from the right grade and still agree.
        resamples: how many resamples of the items give the intervals of the kappas.
        seed: the seed of the resamples.

    >>> found = outcome([Answer(4, 4, None), Answer(0, 4, 3), Answer(1, 1, None), Answer(2, 0, 2)], 1)
    >>> found.missed, found.missed_first.value, found.missed_after.value
    (2, 0.5, 0.25)
    >>> [round(bound, 4) for bound in (found.missed_first.low, found.missed_first.high)]
    [0.15, 0.85]
    """
    missed_answers = [answer for answer in answers if misses(answer.own, answer.right, tolerance)]
    waiting = sum(answer.again is None for answer in missed_answers)
    still = sum(answer.again is not None and misses(answer.again, answer.right, tolerance) for answer in missed_answers)
    n = len(answers)
    after = _share(still, n)
    if waiting:
        why = said("{n} of {missed} missed clips not yet looked at again", n=waiting, missed=len(missed_answers))
        after = Estimate(None, None, None, n, why)
    own, right = (np.array([answer[column] for answer in answers], dtype=np.int64) for column in (0, 1))
    plain, quadratic = (_kappa(own, right, weights, resamples, seed) for weights in ("plain", "quadratic"))
    return Outcome(n, len(missed_answers), _share(len(missed_answers), n), after, plain, quadratic)


def together(outcomes: Sequence[Outcome], *, resamples: int = RESAMPLES, seed: int = SEED) -> Outcome:
    """Return the mean of every miss rate and kappa over annotators, each counted once, with bootstrap intervals.

    The intervals resample the annotators. An annotator whose value is undefined is left out of that mean. The mean's
    `n` counts the annotators in it.
    """

    def mean(each: Sequence[Estimate]) -> Estimate:
        values = np.array([estimate.value for estimate in each if estimate.value is not None])
        if not values.size:
            return Estimate(
                None, None, None, 0, said("nobody has a value") if each else said("nobody has handed an exam in yet")
            )
        if values.size == 1:
            return Estimate(float(values[0]), None, None, 1, said("one person alone gives no interval"))
        low, high = percentile_interval(bootstrap_means(values, resamples=resamples, seed=seed))
        return Estimate(float(values.mean()), float(low), float(high), values.size)

    return Outcome(
        sum(result.answers for result in outcomes),
        sum(result.missed for result in outcomes),
        mean([result.missed_first for result in outcomes]),
        mean([result.missed_after for result in outcomes]),
        mean([result.kappa for result in outcomes]),
        mean([result.kappa_quadratic for result in outcomes]),
    )


def _share(hits: int, n: int) -> Estimate:
    return Estimate(hits / n, *wilson(hits, n), n) if n else Estimate(None, None, None, 0, _NOTHING)


def _kappa(own: np.ndarray, right: np.ndarray, weights: Weights, resamples: int, seed: int) -> Estimate:
    kappa = cohen_kappa(own, right, weights)
    if kappa.value is None:
        return Estimate(None, None, None, kappa.n, kappa.reason if kappa.n else _NOTHING)
    grades = int(max(own.max(), right.max())) + 1
    table = np.bincount(own * grades + right, minlength=grades**2)
    # Items with the same answer and key are interchangeable: a resample is the count of each kind in it.
    drawn = drawn_patterns(table, resamples=resamples, seed=seed).reshape(-1, grades, grades)
    samples = kappas(drawn, weights)
    undefined = float(np.isnan(samples).mean())
    bounds = interval(samples)
    if undefined > MOST_UNDEFINED or bounds is None:
        why = said("undefined in {share:.0f} % of the resamples, so it has no interval", share=100 * undefined)
        return Estimate(kappa.value, None, None, kappa.n, why)
    return Estimate(kappa.value, *bounds, kappa.n)
