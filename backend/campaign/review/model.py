"""Data types of the review pages: pairs with their grades, queries, filters, and events of leads."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.judging.model import ActKind, SkipKind
from backend.campaign.nouns import Split, Verdict
from backend.campaign.selection.candidates.model import FoundBy
from backend.core.events import Event, EventGroup
from backend.core.ids import PairId, PairKey, QueryId
from backend.core.messages import said


@dataclass(frozen=True, slots=True)
class InUse:
    """The parts of a campaign that are in use. Only their pages appear in the menu."""

    captions: bool
    """There are captions, which a lead may correct."""
    rewrites: bool
    """A caption was rewritten."""
    descriptions: bool
    """Describing was opened, or somebody has described a moment."""
    gold: bool
    """A pair has a relevance, so that gold can be chosen; or gold was chosen."""


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A lead's reply to a note; the newest one counts."""

    reply_id: int
    lead: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class GivenNote:
    """The current note that an annotator wrote with their grade, and the newest reply to it."""

    note: int
    """The id of the judgement that the note came with."""
    text: str
    reply: GivenReply | None = None


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """A current judgement of a pair. `round` is 1 for seats 1-2, 2 for seats 3-4, 3 for seats 5-6."""

    annotator: str
    grade: int
    round: int
    at: float
    active_ms: int
    """Active time of all revisions of the judgement together."""
    too_fast: bool = False
    """Whether it was given in less time than the clip can be seen in; see `backend.campaign.judging.rules.too_fast`."""
    note: GivenNote | None = None


@dataclass(frozen=True, slots=True)
class GivenSkip:
    """A skip of a pair that is still in force."""

    annotator: str
    kind: SkipKind
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class GivenAct:
    """An act of a lead about a pair: a decision, a confirmed discard, a re-opening, or the taking back of one.

    `stands` is false for an act that was taken back: it no longer counts, but stays on record. Only a decision has a
    `relevance`. Of the decisions that stand, the newest counts.
    """

    lead: str
    kind: ActKind
    relevance: int | None
    reason: str
    at: float
    stands: bool = True


@dataclass(frozen=True, slots=True)
class PairReview:
    """One pair with everything that led to its verdict."""

    pair: PairKey
    pair_id: PairId
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    caption: str | None
    """The first published caption of the moment; None where it has none."""
    rank: int
    similarity: float | None
    """None where a run found the moment and no caption did."""
    verdict: Verdict
    relevance: int | None
    mean: float | None
    grades: tuple[GivenGrade, ...]
    acts: tuple[GivenAct, ...] = ()
    """The acts of leads, the oldest first."""
    fault: str = ""
    """Why the clip cannot be shown."""
    skips: tuple[GivenSkip, ...] = ()
    probe: bool = False
    """Whether the pair is judged only for the probe of its query."""
    batch: int = 1
    """The number of its batch; 0 if the batch is a probe's."""
    part: int = 1
    """1 unless its batch is of a later pooling."""
    found_by: tuple[FoundBy, ...] = ()
    """The candidate sources that found the pair, the best rank first; empty for pairs of an earlier campaign."""

    @property
    def counts(self) -> GivenAct | None:
        """The newest act that stands. It is the one that a lead would take back first."""
        return next((act for act in reversed(self.acts) if act.stands), None)

    @property
    def decisions(self) -> tuple[GivenAct, ...]:
        """The acts that gave the pair a relevance, whether they stand or not."""
        return tuple(act for act in self.acts if act.kind is ActKind.DECIDED)

    @property
    def reason(self) -> str:
        """The lead's reason for the decision in force; empty where no decision stands."""
        act = self.counts
        return act.reason if act is not None and act.kind is ActKind.DECIDED else ""

    @property
    def confirmed(self) -> bool:
        """Whether a lead confirmed the discard of the pair."""
        act = self.counts
        return act is not None and act.kind is ActKind.DISCARD_CONFIRMED

    @property
    def re_opened(self) -> bool:
        """Whether a lead re-opened the pair for two more people."""
        return any(act.stands and act.kind is ActKind.RE_OPENED for act in self.acts)


class ReviewList(StrEnum):
    """A list of pairs that a lead may have to look at."""

    TO_DECIDE = "to_decide"
    """Escalated pairs, and discarded ones whose discard is not confirmed."""
    DISCARDED = "discarded"
    """Discarded by the rule, and the discard is not confirmed."""
    ESCALATED = "escalated"
    """Waiting for further grades. Pairs that a lead re-opened are among them."""
    DECIDED = "decided"
    """Decided by a lead."""
    CONFIRMED = "confirmed"
    """Discarded, and a lead confirmed that."""
    SKIPPED = "skipped"
    """Skipped, and the skip is still in force. Pairs that wait for a verdict come first."""
    NOTES = "notes"
    """With a note that somebody wrote with a grade. Pairs with a note that waits for a reply come first."""
    BLOCKED = "blocked"
    """With a clip that cannot be shown. Pairs that wait for a verdict come first."""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One row of a review list. A `PairReview` has everything about the pair."""

    pair: PairKey
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    verdict: Verdict
    relevance: int | None
    grades: tuple[int, ...]
    """The grades that count, in seat order."""
    re_opened: bool
    fault: str
    """Why the clip cannot be shown."""
    note: str = ""
    """The newest note, preferring one without a reply; empty in every list but that of notes."""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """A page of a review list: the rows from `start` on, of `count` in all."""

    rows: tuple[ReviewRow, ...]
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class QueryReview:
    """One query on the lead's page.

    `relevances` has the relevance of each pair in its open batches, in rank order, None if undecided. Pairs that a
    later pooling added are left out. The rule about next batches looks at the last `speak` of these relevances.
    """

    query_id: QueryId
    query: str
    split: Split
    pairs: int
    settled: int
    escalated: int
    discarded: int
    grades: int
    relevances: tuple[int | None, ...]
    batches_open: int
    more_candidates: bool
    """Whether a further batch exists and may be opened now, because the open ones are settled."""
    speak: int
    """The number of candidates that the rule about next batches looks at; see `backend.campaign.selection.batches`."""

    @property
    def last(self) -> tuple[int | None, ...]:
        """Relevances of the last `speak` candidates, which the rule about next batches looks at.

        Of 20 candidates, these may be ranks 16-20.
        """
        return self.relevances[-self.speak :]


class QueryShow(StrEnum):
    """A choice of queries to show: all, those in work, those with a next batch to open, those declined."""

    ALL = "all"
    IN_WORK = "work"
    NEXT_BATCH = "next"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """The filter and the order of a lead's list of queries.

    `search` holds words that all have to be in the query, or the query's number. `sort` is a column (query, split,
    settled, pairs, escalated, discarded, batches), with `-` before it for the largest first; empty for the judging
    order. `only` keeps only these queries.
    """

    show: QueryShow = QueryShow.ALL
    split: Split | None = None
    search: str = ""
    sort: str = ""
    only: frozenset[QueryId] | None = None


@dataclass(frozen=True, slots=True)
class QueryPlace:
    """The position of a query in a list: its number counted from 1, the number of all queries, and its neighbours.

    The number is None if the query is not in the list. Its neighbours are then the two queries that it would stand
    between.
    """

    number: int | None
    count: int
    before: QueryId | None
    after: QueryId | None


QUERIES_TAKEN_BACK = Event(
    "queries_taken_back", EventGroup.MATERIAL, said("took back the queries: {val} val, {test} test, {train} train")
)
"""val, test, train, candidates, pairs: how many of each were removed"""
NOTE_ANSWERED = Event("note_answered", EventGroup.DECISIONS, said("replied to a note"))
"""judgement: the judgement whose note the lead replied to"""
ADJUDICATED = Event("adjudicated", EventGroup.DECISIONS, said("adjudicated: relevance {relevance}"))
"""relevance, reason"""
DISCARD_CONFIRMED = Event("discard_confirmed", EventGroup.DECISIONS, said("confirmed the discard"))
"""reason, which may be empty"""
RE_OPENED = Event("re_opened", EventGroup.DECISIONS, said("re-opened the pair for two more people"))
"""reason"""
TAKEN_BACK = Event("taken_back", EventGroup.DECISIONS, said("took back a decision ({what})"))
"""what (decided, discard_confirmed, re_opened) was taken back, its reason, and why it was taken back"""
