"""Mark an attempt: what its answers come to against the answer key."""

from collections.abc import Callable, Sequence

import numpy as np

from backend.campaign.qualification.answers.rules import missed as count_missed
from backend.campaign.qualification.exam.model import PASS_RULE, ExamResult
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.scoring.statistics.agreement import cohen_kappa


def passes(missed: int, answers: int, most_missed: float) -> bool:
    """Whether so many misses of so many answers pass, where at most `most_missed` percent may miss.

    >>> passes(1, 5, 20), passes(1, 4, 20), passes(0, 0, 20)
    (True, False, False)
    """
    return answers > 0 and 100 * missed <= most_missed * answers


PASS_RULES: dict[str, Callable[[int, int, float], bool]] = {PASS_RULE: passes}
"""The pass rules by name: an exam keeps the one that it was set with, so a new rule judges nobody anew."""


def mark(answers: Sequence[tuple[int, int]], most_missed: float, tolerance: int, rule: str = PASS_RULE) -> ExamResult:
    """What the answers of one attempt come to.

    An answer misses where |answer - key| > tolerance; the attempt passes if at most `most_missed` percent of its
    answers miss. Kappa is Cohen's, between the answers and the key as if it were a second annotator
    (`backend.scoring.statistics.agreement.cohen_kappa`); it decides nothing.

    Source: the qualification of TVR-Ranking's annotators, where 11.83 % of the grades missed at first and the mean
    kappa was 0.49.

    Args:
        answers: (answer, key) of each answered item.
        most_missed: Percent, 0 to 100.
        tolerance: How far two grades may differ and still agree.
        rule: The name of the pass rule that the exam was set with.

    Returns:
        Without any answer nothing is passed.

    Raises:
        ProjectError: This code does not have the rule.

    >>> result = mark([(4, 4), (3, 4), (0, 0), (1, 4), (2, 2)], 20, 1)
    >>> result.missed, result.passed, round(result.kappa, 9)
    (1, True, 0.5)
    >>> mark([(4, 4), (3, 4), (0, 0), (1, 4)], 20, 1).passed  # 1 of 4 is 25 %
    False
    >>> mark([(2, 2)], 20, 1).undefined
    'both gave one and the same grade throughout'
    """
    if rule not in PASS_RULES:
        raise ProjectError(
            said(
                "this exam is marked by the rule {rule}, but this ReelRank has {known}: use the ReelRank that it was "
                "set with, or a newer one",
                rule=rule,
                known=", ".join(PASS_RULES),
            )
        )
    missed = count_missed(answers, tolerance)
    given, key = (np.array(column, dtype=np.int64) for column in (list(zip(*answers, strict=True)) or ((), ())))
    plain, quadratic = cohen_kappa(given, key), cohen_kappa(given, key, "quadratic")
    return ExamResult(
        answers=len(answers),
        missed=missed,
        most_missed=most_missed,
        passed=PASS_RULES[rule](missed, len(answers), most_missed),
        kappa=plain.value,
        kappa_quadratic=quadratic.value,
        undefined=plain.reason,
    )
