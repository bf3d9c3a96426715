"""What leads read, as values."""

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
    """What somebody wrote with their grade, as the lead sees it, and the reply that counts."""

    note: int
    """The judgement that it came with."""
    text: str
    reply: GivenReply | None = None


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """A standing grade of a pair, as the lead sees it. `round` is 1 for seats 1-2, 2 for 3-4, 3 for 5-6."""

    annotator: str
    grade: int
    round: int
    at: float
    active_ms: int
    """Of all its revisions together."""
    too_fast: bool = False
    """Given in less time than the clip can be seen in; see `backend.campaign.monitoring.quality.rules.pace`."""
    note: GivenNote | None = None


@dataclass(frozen=True, slots=True)
class GivenSkip:
    """Somebody's skip of a pair that still stands, as the lead sees it."""

    annotator: str
    kind: SkipKind
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class GivenAct:
    """Something that a lead did about a pair. It counts as long as it `stands`; taken back, it stays on record.

    `relevance` is that of a decision; of decisions that stand the newest counts.
    """

    lead: str
    kind: ActKind
    relevance: int | None
    reason: str
    at: float
    stands: bool = True


@dataclass(frozen=True, slots=True)
class PairReview:
    """One pair with everything that led to its verdict, for the lead."""

    pair: PairKey
    pair_id: PairId
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    caption: str | None
    """The first published one; None where the moment has none."""
    rank: int
    similarity: float | None
    """None where no caption was found by it, but a run found the moment."""
    verdict: Verdict
    relevance: int | None
    mean: float | None
    grades: tuple[GivenGrade, ...]
    acts: tuple[GivenAct, ...] = ()
    """Of leads, the oldest first."""
    fault: str = ""
    """Why the clip cannot be shown."""
    skips: tuple[GivenSkip, ...] = ()
    probe: bool = False
    """Whether it is judged for the probe of its query alone."""
    batch: int = 1
    """The number of its batch; 0 of a probe's."""
    part: int = 1
    """1 unless its batch is of a later pooling."""
    found_by: tuple[FoundBy, ...] = ()
    """What found it, the best rank first; nothing for pairs of an earlier campaign."""

    @property
    def counts(self) -> GivenAct | None:
        """The newest act that stands: what would be taken back first."""
        return next((act for act in reversed(self.acts) if act.stands), None)

    @property
    def decisions(self) -> tuple[GivenAct, ...]:
        """Those of the acts that gave it a relevance, whether they stand or not."""
        return tuple(act for act in self.acts if act.kind is ActKind.DECIDED)

    @property
    def reason(self) -> str:
        """Why a lead decided so; empty where no decision stands."""
        act = self.counts
        return act.reason if act is not None and act.kind is ActKind.DECIDED else ""

    @property
    def confirmed(self) -> bool:
        """Whether a lead confirmed its discard."""
        act = self.counts
        return act is not None and act.kind is ActKind.DISCARD_CONFIRMED

    @property
    def re_opened(self) -> bool:
        """Whether two more people are asked about it, or were."""
        return any(act.stands and act.kind is ActKind.RE_OPENED for act in self.acts)


class ReviewList(StrEnum):
    """A list of pairs that a lead may have to look at."""

    TO_DECIDE = "to_decide"
    """Escalated or discarded, and the discard is not confirmed."""
    DISCARDED = "discarded"
    """Discarded by the rule, not confirmed."""
    ESCALATED = "escalated"
    """Waiting for further people, those that a lead re-opened among them."""
    DECIDED = "decided"
    """A lead decided."""
    CONFIRMED = "confirmed"
    """Discarded, and a lead said that this is right."""
    SKIPPED = "skipped"
    """Somebody's skip stands; those that wait for a verdict come first."""
    NOTES = "notes"
    """Somebody wrote a note with a grade; those that wait for a reply come first."""
    BLOCKED = "blocked"
    """The clip cannot be shown; those that wait for a verdict come first."""


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """One pair in such a list, as far as a row tells it; a `PairReview` has all of it."""

    pair: PairKey
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    verdict: Verdict
    relevance: int | None
    grades: tuple[int, ...]
    """Those that count, in seat order."""
    re_opened: bool
    fault: str
    """Why the clip cannot be shown."""
    note: str = ""
    """In the list of notes: the newest one, one without a reply before the others."""


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """A page of such a list: the rows from `start` on, of `count` in all."""

    rows: tuple[ReviewRow, ...]
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class QueryReview:
    """One query on the lead's page.

    `relevances` are those of the open batches in rank order, None where undecided, those of a later pooling left out;
    the last `speak` of them speak for or against the next one.
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
    """Whether a further batch exists and may be opened now (the open ones settled)."""
    speak: int
    """How many candidates the rule about next batches looks at; see `backend.campaign.selection.batches`."""

    @property
    def last(self) -> tuple[int | None, ...]:
        """Relevances of the lowest-ranked open candidates, which the rule looks at (of 20: ranks 16-20)."""
        return self.relevances[-self.speak :]


class QueryShow(StrEnum):
    """Which queries a lead wants to see."""

    ALL = "all"
    IN_WORK = "work"
    NEXT_BATCH = "next"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """What a lead's list of queries shows, and in which order.

    `search` are words that all stand in a query, or its number. `sort` is a column (query, split, settled, pairs,
    escalated, discarded, batches), with `-` before it from the largest down, or empty for the judging order. `only`
    narrows it down to some queries.
    """

    show: QueryShow = QueryShow.ALL
    split: Split | None = None
    search: str = ""
    sort: str = ""
    only: frozenset[QueryId] | None = None


@dataclass(frozen=True, slots=True)
class QueryPlace:
    """Where a query stands in a list: its number counted from 1, of how many, and its neighbours.

    A query that is not in the list (any more) has no number, but the neighbours it would have.
    """

    number: int | None
    count: int
    before: QueryId | None
    after: QueryId | None


QUERIES_TAKEN_BACK = Event(
    "queries_taken_back", EventGroup.MATERIAL, said("took back the queries: {val} val, {test} test, {train} train")
)
"""val, test, train, candidates, pairs: what went"""
NOTE_ANSWERED = Event("note_answered", EventGroup.DECISIONS, said("replied to a note"))
"""judgement: the one whose note a lead replied to"""
ADJUDICATED = Event("adjudicated", EventGroup.DECISIONS, said("adjudicated: relevance {relevance}"))
"""relevance, reason"""
DISCARD_CONFIRMED = Event("discard_confirmed", EventGroup.DECISIONS, said("confirmed the discard"))
"""reason, which may be empty"""
RE_OPENED = Event("re_opened", EventGroup.DECISIONS, said("re-opened the pair for two more people"))
"""reason: two more people grade the pair"""
TAKEN_BACK = Event("taken_back", EventGroup.DECISIONS, said("took back a decision ({what})"))
"""what (decided, discard_confirmed, re_opened) and its reason, why"""
