"""The state of the work as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.monitoring.quality.model import PersonFlags
from backend.core.ids import AnnotatorId, QueryId


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


class Barred(StrEnum):
    """Why an annotator who could otherwise grade a pair cannot; what a lead may change comes first."""

    PAUSED = "paused"
    EXAM = "exam"
    """They failed the exam: a lead grants a retake, or exempts them."""
    EXAM_AHEAD = "exam_ahead"
    """They have yet to take the exam, or wait for its answer key."""
    QUOTA = "quota"
    """Their quota in all is reached."""
    ASSIGNED = "assigned"
    """The query is not among those that they are assigned to."""
    SKIPPED = "skipped"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class Worker:
    """One annotator, as far as it matters for what they can still grade."""

    annotator_id: AnnotatorId
    name: str
    barred: Barred | None = None
    """Why they are handed no pair at all; None for who may work."""
    a_day: float = 0.0
    """Judgements a day, over the last seven days; at most their quota."""
    room: int | None = None
    """How many grades more are wanted of them in all; None without a quota."""
    queries: frozenset[QueryId] | None = None
    """Those that they are assigned to; None for all."""


@dataclass(frozen=True, slots=True)
class Wanting:
    """What pairs have in common that want grades and can be handed out.

    `seats` is how many places they have, `graded` who sat down at how many of them for good.
    """

    seats: int
    graded: frozenset[AnnotatorId]
    judged: int
    """Places with a grade; more than people where an earlier campaign had somebody twice."""
    disputed: bool = False
    """Whether the first grades do not agree."""
    skipped: frozenset[AnnotatorId] = frozenset()
    known: frozenset[AnnotatorId] = frozenset()
    """Who answered them in an exam or a trial."""
    query: QueryId | None = None
    """Only told where somebody has an assignment of some queries."""

    @property
    def free(self) -> int:
        """The number of grades that they want."""
        return self.seats - self.judged


@dataclass(frozen=True, slots=True)
class Stuck:
    """Pairs that the team cannot finish. Suspended people are no part of the team; without a team nothing is stuck."""

    places: tuple[int, ...]
    """Which person they wait for: (3, 4) for a third and a fourth."""
    pairs: int
    lacking: int
    """How many further people it takes, for the pair that lacks most."""
    grades: int
    """Grades that nobody can give, together."""
    ways_out: tuple[tuple[Barred, tuple[str, ...], int], ...]
    """Why somebody cannot grade them who otherwise could, their names, and how many of the pairs that is."""


@dataclass(frozen=True, slots=True)
class QueryStuck:
    """What of one query cannot come to its end by itself: pairs, by their ranks."""

    stuck: tuple[tuple[Stuck, tuple[int, ...]], ...] = ()
    blocked: tuple[int, ...] = ()
    """Those whose clip cannot be shown."""
    set_aside: tuple[int, ...] = ()
    """Those that are handed out to nobody while an exam or a trial asks them."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the work may be done, by those who may still give which grade, each at their own pace."""

    days: float | None
    """Until they have given all that they can, expected disputes included; None while nobody has any pace."""
    stuck: int = 0
    """Grades that nobody who may work can give."""
    over_quota: int = 0
    """Grades beyond everybody's quotas in all."""
    idle: int = 0
    """Grades that only people can give who gave none in the last seven days."""
    disputes: int = 0
    """Pairs that will be stuck if as many are disputed as so far."""
    disputes_lack: int = 0
    """How many further annotators those would take."""
    exam: int = 0
    """Grades that only people can give who have yet to pass the exam."""

    @property
    def ends(self) -> bool:
        """Whether everything that is handed out can come to its end like this."""
        lacking = self.stuck or self.over_quota or self.idle or self.disputes or self.exam
        return self.days is not None and not lacking


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is still to come, for every page that tells of it."""

    needed: int
    """Grades until every open or escalated pair that can be handed out has all its seats judged."""
    further: int
    """Grades on top if as many of the open pairs are disputed as so far."""
    disputed: float | None
    """Share of the pairs with two grades that went on to two further annotators; None while there are too few."""
    stuck: tuple[Stuck, ...]
    forecast: Forecast
    blocked: int = 0
    """Pairs that are not settled and whose clip cannot be shown."""
    set_aside: int = 0
    """Pairs that are handed out to nobody while an exam or a trial asks them."""


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """How fast the work goes. Nothing here counts imported or simulated judgements, unless its name says so."""

    ahead: Ahead
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


class WaitKind(StrEnum):
    """What waits for a lead."""

    DISCARDED = "discarded"
    """Pairs on which people disagree for good, and of which no lead has decided or confirmed anything."""
    NOTES = "notes"
    """Notes without a reply."""
    SKIPPED = "skipped"
    """Pairs that are not settled and that somebody skipped."""
    BLOCKED = "blocked"
    """Pairs that are not settled and whose clip cannot be shown."""
    BATCHES = "batches"
    """Queries whose next batch the rule recommends to open."""
    EXAM_FAILED = "exam_failed"
    """People who have not passed the exam, and can do no more about it."""
    EXAM_ROUND = "exam_round"
    """People who finished an exam whose answer key is the median of everybody: the round can be closed."""
    REWRITES = "rewrites"
    """Captions whose rewrite waits for a decision."""
    DESCRIPTIONS = "descriptions"
    """Descriptions that nobody has accepted or sent back."""
    PAUSED = "paused"
    """People who are paused."""
    GOLD = "gold"
    """People whom gold has warned, and who have not shown since that it was chance."""
    TEAM = "team"
    """Pairs that want grades while nobody is invited, or everybody is suspended."""
    EXAM_KEY = "exam_key"
    """Pairs of an exam that wait for a lead's own grades, which are its answer key."""
    EXAM_ANSWERS = "exam_answers"
    """Unsettled pairs of an exam of open pairs, whose answers a lead may let count."""
    RESERVED = "reserved"
    """Unsettled pairs that stay reserved until a lead ends the exam, which is done."""
    REPORTED = "reported"
    """Clips that one person reported as broken, and that others still get."""
    CALIBRATION = "calibration"
    """Unsettled pairs that stay reserved until a lead ends the calibration round, which everybody has done."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How much of one kind waits for a lead; at least one."""

    kind: WaitKind
    count: int
    newest: float | None = None
    """When the newest of them came, in seconds since 1970; None where that is not recorded."""
    who: tuple[str, ...] = ()
    """Whom it is about, where that matters."""
    quote: str = ""
    """The newest note."""


@dataclass(frozen=True, slots=True)
class FlaggedPerson:
    """An annotator with quality flags, and when they gave their newest grade or skip."""

    flags: PersonFlags
    newest: float | None
