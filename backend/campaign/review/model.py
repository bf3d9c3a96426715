"""What leads read, as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.judging.model import SkipKind
from backend.campaign.nouns import Split, Verdict
from backend.ground.ids import PairId, PairKey, QueryId


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
    """A standing grade of a pair, as the lead sees it. `round` is 1 for seats 1-2, 2 for seats 3-4."""

    annotator: str
    grade: int
    round: int
    at: float
    active_ms: int
    """Of all its revisions together."""
    too_fast: bool = False
    """Given in less time than the clip can be seen in; see `backend.campaign.quality.rules.pace`."""
    note: GivenNote | None = None


@dataclass(frozen=True, slots=True)
class GivenSkip:
    """Somebody's skip of a pair that still stands, as the lead sees it."""

    annotator: str
    kind: SkipKind
    reason: str
    at: float


@dataclass(frozen=True, slots=True)
class GivenDecision:
    """A lead's decision on a pair. The newest one counts; the others stay."""

    lead: str
    relevance: int
    reason: str
    at: float


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
    caption: str
    rank: int
    similarity: float
    verdict: Verdict
    relevance: int | None
    mean: float | None
    grades: tuple[GivenGrade, ...]
    decisions: tuple[GivenDecision, ...] = ()
    """Of leads, the oldest first."""
    fault: str = ""
    """Why the clip cannot be shown."""
    skips: tuple[GivenSkip, ...] = ()
    probe: bool = False
    """Whether it is judged for the probe of its query alone."""

    @property
    def reason(self) -> str:
        """Why a lead decided so; empty where none did."""
        return self.decisions[-1].reason if self.decisions else ""


@dataclass(frozen=True, slots=True)
class QueryReview:
    """One query on the lead's page.

    `relevances` are those of the open batches in rank order, None where undecided; the last `speak` of them speak for
    or against the next one.
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
    """How many candidates the rule about next batches looks at; see `backend.campaign.batches`."""

    @property
    def last(self) -> tuple[int | None, ...]:
        """Relevances of the lowest-ranked open candidates, which the rule looks at (of 20: ranks 16-20)."""
        return self.relevances[-self.speak :]


class QueryShow(StrEnum):
    """Which queries a lead wants to see."""

    ALL = "all"
    IN_WORK = "work"
    NEXT_BATCH = "next"


@dataclass(frozen=True, slots=True)
class QueryFilter:
    """What a lead's list of queries shows, and in which order.

    `search` are words that all stand in a query, or its number. `sort` is a column (query, split, settled, pairs,
    escalated, discarded, batches), with `-` before it from the largest down, or empty for the judging order.
    """

    show: QueryShow = QueryShow.ALL
    split: Split | None = None
    search: str = ""
    sort: str = ""


@dataclass(frozen=True, slots=True)
class QueryPlace:
    """Where a query stands in a list: its number counted from 1, of how many, and its neighbours.

    A query that is not in the list (any more) has no number, but the neighbours it would have.
    """

    number: int | None
    count: int
    before: QueryId | None
    after: QueryId | None


@dataclass(frozen=True, slots=True)
class DayCount:
    """Judgements of one local day (`2026-03-14`): those made here by people, and simulated ones beside them."""

    day: str
    judgements: int
    simulated: int


@dataclass(frozen=True, slots=True)
class PersonPace:
    """How much one annotator judged since midnight, and in the last seven days."""

    name: str
    today: int
    week: int


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """How fast the work goes. Nothing here counts imported or simulated judgements, unless its name says so."""

    needed: int
    """Grades until every open or escalated pair that can be handed out has all its seats judged."""
    held: int
    """Pairs in people's hands now."""
    days: tuple[DayCount, ...]
    """The last 30 local days, the oldest first."""
    people: tuple[PersonPace, ...]
    """Annotators who may work, the busiest first."""
    imported: int
    """Judgements of earlier campaigns."""
    a_day: float
    """Judgements a day, over the last seven days."""

    @property
    def days_left(self) -> float | None:
        """Days until nothing is needed any more, at the pace of the last seven days; None without any pace."""
        if not self.needed:
            return 0.0
        return self.needed / self.a_day if self.a_day else None
