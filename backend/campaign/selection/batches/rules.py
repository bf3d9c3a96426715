"""Pure: what the rule says about a query's next batch, and whether a batch may be opened or taken back at all.

The paper opens a second batch where the last candidates of the first are still very relevant, and gives no number; see
docs/decisions/062-next-batch.md.
"""

from collections.abc import Iterator, Sequence

from backend.campaign.nouns import Scale
from backend.campaign.selection.batches.model import BatchRule, NextState, RuleReading, RuleWord
from backend.core.messages import said

LONGEST = 40
"""A query has no more candidates than this."""


def default(scale: Scale, batch_size: int) -> BatchRule:
    """The rule of a campaign whose leads have set none.

    A quarter of a batch speaks, at least one candidate: of 20 the last five. Their mean has to reach the middle of the
    scale, or more than half of them one of its two best grades, which is never the lowest.

    Args:
        scale: the campaign's grades.
        batch_size: 1 to 40.
    """
    last = max(1, batch_size // 4)
    return BatchRule(last, scale.highest / 2, last // 2 + 1, max(1, scale.highest - 1))


def read(rule: BatchRule, relevances: Sequence[int | None]) -> RuleReading:
    """What the rule says.

    A pair without a relevance is no pair of relevance 0: it enters no mean, and the mean counts only where at least
    half of the last have one.

    Args:
        rule: the rule.
        relevances: of the open candidates in rank order, None where there is none.

    >>> rule = BatchRule(5, 2.0, 3, 3)
    >>> read(rule, [4] * 15 + [3, 3, 0, 4, 2]).word, read(rule, [4] * 15 + [3, 3, 0, 0, 1]).word
    (<RuleWord.OPEN: 'open'>, <RuleWord.LEAVE: 'do not open'>)
    >>> read(rule, [None, None, None, 4, 4]).word
    <RuleWord.UNTOLD: 'cannot tell'>
    """
    spoke = relevances[-rule.last :]
    known = [relevance for relevance in spoke if relevance is not None]
    finds, total = sum(relevance >= rule.grade for relevance in known), sum(known)
    # Hundredths are whole numbers: 12 of 5 are 2.4, which as floats they need not be.
    high = rule.mean is not None and 100 * total >= round(100 * rule.mean) * len(known)
    if rule.finds is not None and finds >= rule.finds:
        word = RuleWord.OPEN
    elif not known or 2 * len(known) < len(spoke):
        word = RuleWord.UNTOLD
    else:
        word = RuleWord.OPEN if high else RuleWord.LEAVE
    return RuleReading(rule, len(spoke), len(known), total, finds, word)


def state(*, unsettled: int, pairs: int, declined: bool) -> NextState:
    """How a next batch stands, from the pairs that are not settled, those it would hand out, and a lead's decision."""
    if not pairs:
        return NextState.ENDED
    if declined:
        return NextState.DECLINED
    return NextState.UNSETTLED if unsettled else NextState.READY


def wrong(rule: BatchRule, scale: Scale) -> Iterator[str]:
    """Everything that is wrong with a rule, in words."""
    if not 1 <= rule.last <= LONGEST:
        yield said("the last 1 to {longest} candidates may speak, not {last}", longest=LONGEST, last=rule.last)
    if rule.mean is None and rule.finds is None:
        yield said("a rule needs one of its two conditions: a mean, or a number of pairs with a grade")
    if rule.mean is not None and not 0 < rule.mean <= scale.highest:
        yield said("a mean is above 0 and at most {highest}, not {mean:g}", highest=scale.highest, mean=rule.mean)
    if rule.mean is not None and round(100 * rule.mean) / 100 != rule.mean:
        yield said("a mean has at most two decimals, not {mean:g}", mean=rule.mean)
    if rule.finds is not None and not 1 <= rule.finds <= rule.last:
        yield said(
            "of the last {last} candidates 1 to {last} may be asked for, not {finds}", last=rule.last, finds=rule.finds
        )
    if rule.grade not in scale or not rule.grade:
        yield said("the grade is 1 to {highest}, not {grade}", highest=scale.highest, grade=rule.grade)
