"""The rule that recommends whether to open the next batch of a query's candidates, and leads' decisions. Pure.

TVR-Ranking opens a second batch if the last candidates of the first batch are still very relevant. It does not say how
relevant they have to be; see docs/decisions/062-next-batch.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.nouns import Scale, Split
from backend.core.events import Event, EventGroup
from backend.core.ids import QueryId
from backend.core.messages import joined, said, said_n


class RuleWord(StrEnum):
    """A recommendation about the next batch of a query's candidates: open it, do not open it, or cannot tell."""

    OPEN = "open"
    LEAVE = "do not open"
    UNTOLD = "cannot tell"
    """Too few of the last candidates have a relevance."""


WORDS = {
    RuleWord.OPEN: said("open", _context="rule"),
    RuleWord.LEAVE: said("do not open"),
    RuleWord.UNTOLD: said("cannot tell"),
}
"""The recommendations of the rule in words."""


@dataclass(frozen=True, slots=True)
class BatchRule:
    """The condition under which it is worth giving the next batch of a query's candidates to annotators (opening it).

    The rule looks at the `last` lowest-ranked candidates, 1 to 40, of the batches that are open. One of two conditions
    has to hold. Either the mean of their relevances is at least `mean`, or at least `finds` of them have a relevance of
    `grade` or more. `mean` has at most two decimals. If `mean` or `finds` is None, that condition is off; at least one
    of the two is on.
    """

    last: int
    mean: float | None
    finds: int | None
    grade: int

    @property
    def words(self) -> str:
        """The rule as the end of a sentence that begins "A next batch is worth opening if".

        >>> BatchRule(5, 2.0, 3, 3).words
        'the last 5 have a mean relevance of 2.0 or more, or 3 of them are graded 3 or more'
        >>> BatchRule(1, None, 1, 1).words
        'the last one is graded 1 or more'
        >>> BatchRule(10, 1.25, None, 1).words
        'the last 10 have a mean relevance of 1.25 or more'
        """
        if self.mean is None:
            return self._finds
        mean = said_n(
            "the last one has a mean relevance of {mean} or more",
            "the last {n} have a mean relevance of {mean} or more",
            self.last,
            mean=_decimals(self.mean),
        )
        return mean if self.finds is None else said("{mean}, or {finds}", mean=mean, finds=self._finds)

    @property
    def _finds(self) -> str:
        """The rule's condition on how many candidates have a high relevance, in words.

        If the condition on their mean precedes it in the sentence, the candidates are called "them".
        """
        finds = self.finds or 0
        if self.last == 1:
            return said("the last one is graded {grade} or more", grade=self.grade)
        if self.mean is not None:
            return said_n(
                "{n} of them is graded {grade} or more",
                "{n} of them are graded {grade} or more",
                finds,
                grade=self.grade,
            )
        return said_n(
            "{n} of the last {last} is graded {grade} or more",
            "{n} of the last {last} are graded {grade} or more",
            finds,
            grade=self.grade,
            last=self.last,
        )


@dataclass(frozen=True, slots=True)
class BatchRuleVersion:
    """One version of the rule that recommends next batches, and who set it when and why.

    It is in force from `since` (seconds since 1970; None: from the beginning) until the next version. `by` is the name
    of the lead who set it; None for a command, and for the first version.
    """

    version: int
    since: float | None
    by: str | None
    reason: str
    rule: BatchRule


@dataclass(frozen=True, slots=True)
class RuleReading:
    """The recommendation whether to open one query's next batch, with the numbers from which it follows.

    It is made by `rule`. `spoke` counts the candidates that the rule looked at: `rule.last`, or all candidates of
    the open batches if there are fewer. Of these, `known` counts those with a relevance, and `total` is the sum of
    their relevances. `finds` counts those whose relevance is at least `rule.grade`. `word` is the recommendation.
    """

    rule: BatchRule
    spoke: int
    known: int
    total: int
    finds: int
    word: RuleWord

    @property
    def words(self) -> str:
        """The numbers that the rule compared, each with the required number, then the recommendation, in words.

        >>> RuleReading(BatchRule(5, 2.0, 3, 3), 5, 5, 12, 3, RuleWord.OPEN).words
        'mean 2.4 (needs 2.0), 3 of 5 graded 3 or more: open'
        >>> RuleReading(BatchRule(5, 2.0, 3, 3), 5, 4, 5, 1, RuleWord.LEAVE).words
        'mean 1.25 (needs 2.0), 4 of 5 have a relevance, 1 of 5 graded 3 or more: do not open'
        """
        return said("{numbers}: {word}", numbers=self.numbers, word=WORDS[self.word])

    @property
    def numbers(self) -> str:
        """The numbers that the rule compared, each with the required number, in words, without the recommendation."""
        parts = []
        if self.rule.mean is not None:
            wanted = _decimals(self.rule.mean)
            mean = said("no mean yet (needs {wanted})", wanted=wanted)
            if self.known:
                mean = said("mean {mean} (needs {wanted})", mean=_decimals(self.total / self.known), wanted=wanted)
            if self.known != self.spoke:
                mean = said_n(
                    "{mean}, {n} of {spoke} has a relevance",
                    "{mean}, {n} of {spoke} have a relevance",
                    self.known,
                    mean=mean,
                    spoke=self.spoke,
                )
            parts.append(mean)
        if self.rule.finds is not None:
            parts.append(
                said(
                    "{finds} of {spoke} graded {grade} or more",
                    finds=self.finds,
                    spoke=self.spoke,
                    grade=self.rule.grade,
                )
            )
        return joined(", ", parts)


class NextState(StrEnum):
    """The states of a query's next batch: ready to open, declined, waiting for grades, or without candidates."""

    READY = "ready"
    """The batch may be opened, and nobody has declined it."""
    DECLINED = "declined"
    UNSETTLED = "unsettled"
    """Pairs of the open batches are not settled yet."""
    ENDED = "ended"
    """There are no further candidates."""


@dataclass(frozen=True, slots=True)
class DeclinedBatch:
    """A lead's decision not to open a batch. It is in force until somebody takes it back.

    `by` is the lead's name; None if a command did it. `at` is in seconds since 1970.
    """

    by: str | None
    at: float
    reason: str


@dataclass(frozen=True, slots=True)
class OpenedBatch:
    """The newest batch of a query, if it is not the first one.

    `by` is the name of the lead who opened it; None if a command did it. `at` is in seconds since 1970. `kept` says in
    words why the batch cannot be taken back; it is empty if it can.
    """

    number: int
    by: str | None
    at: float
    kept: str


@dataclass(frozen=True, slots=True)
class NextBatch:
    """The next batch of one query: its state, the rule's recommendation, and the decisions of leads.

    `pairs` is the number of pairs that it would have; 0 if no candidates are left. `unsettled` counts the unsettled
    pairs of the batches that are open, without those whose clip cannot be shown. `opened` is the query's newest batch;
    None if that is the first.
    """

    query_id: QueryId
    number: int
    pairs: int
    unsettled: int
    state: NextState
    reading: RuleReading
    declined: DeclinedBatch | None
    opened: OpenedBatch | None


@dataclass(frozen=True, slots=True)
class Suggested:
    """The recommendation whether to open one query's next batch, which waits for a lead's decision.

    `number` is the number of that batch, and `pairs` the number of pairs that it would have.
    """

    query_id: QueryId
    query: str
    split: Split
    number: int
    pairs: int
    reading: RuleReading


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The recommendations whether to open next batches, for all queries that wait for a lead's decision.

    The queries are in judging order. Two numbers count other queries that have further candidates. `declined` counts
    those whose next batch was declined, and `unsettled` those whose open batches still need grades.
    """

    rule: BatchRuleVersion
    queries: tuple[Suggested, ...]
    declined: int
    unsettled: int

    def saying(self, word: RuleWord) -> tuple[Suggested, ...]:
        """Return the queries for which the recommendation is `word`, such as to open the next batch."""
        return tuple(query for query in self.queries if query.reading.word is word)

    def pairs(self) -> int:
        """Return how many pairs annotators would get if every batch that the rule recommends were opened."""
        return sum(query.pairs for query in self.saying(RuleWord.OPEN))


@dataclass(frozen=True, slots=True)
class AcceptedReport:
    """The result of accepting the recommendations whether to open the next batches of queries.

    `opened` and `declined` count batches, and `pairs` the pairs of the opened ones. `overtaken` counts queries that
    were skipped because they had changed meanwhile.
    """

    opened: int
    pairs: int
    declined: int
    overtaken: int


def _decimals(value: float) -> str:
    """Format a number with two decimals, without a last zero."""
    text = f"{value:.2f}"
    return text.removesuffix("0")


BATCH_OPENED = Event("batch_opened", EventGroup.DECISIONS, said("opened batch {number}: {pairs} pairs"))
"""number, pairs, rule: its version, says: its recommendation in words, reason if a lead gave one, last: the highest
number of work so far, by its column, on_screen: [pair, person] of clips of it that were on a screen, if any"""
BATCH_UNDONE = Event("batch_undone", EventGroup.DECISIONS, said("took back batch {number}: {pairs} pairs"))
"""number, pairs, reason"""
BATCH_DECLINED = Event("batch_declined", EventGroup.DECISIONS, said("declined batch {number}"))
"""number, rule, says, reason"""
BATCH_DECLINE_ENDED = Event("batch_decline_ended", EventGroup.DECISIONS, said("took back declining batch {number}"))
"""number, reason"""
BATCH_RULE_CHANGED = Event(
    "batch_rule_changed",
    EventGroup.DECISIONS,
    said("changed the rule for next batches: of the last {last}, a mean of {mean}, or {finds} graded {grade} or more"),
)
"""version, last, mean, finds, grade, reason"""
LONGEST = 40
"""The most candidates of a query that the rule can look at."""


def default_rule(scale: Scale, batch_size: int) -> BatchRule:
    """Return the rule for next batches that applies until a lead sets one.

    It looks at the last quarter of a batch, at least at one candidate: at the last five of 20. The next batch is worth
    opening if their mean relevance reaches the middle of the scale. It is also worth opening if more than half of them
    have one of the two best grades. The lowest grade never counts as one of the best.

    Args:
        scale: the campaign's grades.
        batch_size: 1 to 40.
    """
    last = max(1, batch_size // 4)
    return BatchRule(last, scale.highest / 2, last // 2 + 1, max(1, scale.highest - 1))


def rule_reading(rule: BatchRule, relevances: Sequence[int | None]) -> RuleReading:
    """Return whether to open a query's next batch, as a rule recommends from the relevances in its open batches.

    A pair without a relevance does not count as relevance 0: the mean leaves it out. The mean counts only if at least
    half of the candidates that the rule looks at have a relevance.

    Args:
        rule: the rule.
        relevances: relevance of each candidate in an open batch, in rank order; None where there is none.

    >>> rule = BatchRule(5, 2.0, 3, 3)
    >>> rule_reading(rule, [4] * 15 + [3, 3, 0, 4, 2]).word, rule_reading(rule, [4] * 15 + [3, 3, 0, 0, 1]).word
    (<RuleWord.OPEN: 'open'>, <RuleWord.LEAVE: 'do not open'>)
    >>> rule_reading(rule, [None, None, None, 4, 4]).word
    <RuleWord.UNTOLD: 'cannot tell'>
    """
    last = relevances[-rule.last :]
    known = [relevance for relevance in last if relevance is not None]
    finds, total = sum(relevance >= rule.grade for relevance in known), sum(known)
    # Compare whole numbers of hundredths: as floats, 12 / 5 and 2.4 may differ.
    high = rule.mean is not None and 100 * total >= round(100 * rule.mean) * len(known)
    if rule.finds is not None and finds >= rule.finds:
        word = RuleWord.OPEN
    elif not known or 2 * len(known) < len(last):
        word = RuleWord.UNTOLD
    else:
        word = RuleWord.OPEN if high else RuleWord.LEAVE
    return RuleReading(rule, len(last), len(known), total, finds, word)


def next_state(*, unsettled: int, pairs: int, declined: bool) -> NextState:
    """Return the state of a query's next batch.

    Args:
        unsettled: number of pairs in the open batches that still need grades.
        pairs: number of pairs that the next batch would have.
        declined: whether a lead declined it.
    """
    if not pairs:
        return NextState.ENDED
    if declined:
        return NextState.DECLINED
    return NextState.UNSETTLED if unsettled else NextState.READY


def rule_problems(rule: BatchRule, scale: Scale) -> Iterator[str]:
    """Yield everything that is wrong with a rule for next batches, in words."""
    if not 1 <= rule.last <= LONGEST:
        yield said(
            "the rule can look at the last 1 to {longest} candidates, not {last}", longest=LONGEST, last=rule.last
        )
    if rule.mean is None and rule.finds is None:
        yield said("a rule needs one of its two conditions: a mean, or a number of pairs with a grade")
    if rule.mean is not None and not 0 < rule.mean <= scale.highest:
        yield said(
            "the mean has to be above 0 and at most {highest}, not {mean:g}", highest=scale.highest, mean=rule.mean
        )
    if rule.mean is not None and round(100 * rule.mean) / 100 != rule.mean:
        yield said("the mean can have two decimals, not {mean:g}", mean=rule.mean)
    if rule.finds is not None and not 1 <= rule.finds <= rule.last:
        yield said(
            "the rule can ask for 1 to {last} of the last {last} candidates, not {finds}",
            last=rule.last,
            finds=rule.finds,
        )
    if rule.grade not in scale or not rule.grade:
        yield said("the grade has to be 1 to {highest}, not {grade}", highest=scale.highest, grade=rule.grade)
