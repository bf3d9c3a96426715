"""Data types of progress: pace, pairs that the team cannot finish, the forecast, and tasks for leads."""

from dataclasses import dataclass
from enum import StrEnum

from backend.campaign.monitoring.quality.model import PersonFlags
from backend.core.ids import AnnotatorId, QueryId


@dataclass(frozen=True, slots=True)
class DayCount:
    """The judgements of one local day (`2026-03-14`): those that people made in this project, and simulated ones."""

    day: str
    judgements: int
    simulated: int


@dataclass(frozen=True, slots=True)
class PersonPace:
    """How many pairs one annotator judged since midnight, and in the last seven days."""

    name: str
    today: int
    week: int


class Barred(StrEnum):
    """The reasons why an annotator cannot grade a pair. Reasons that a lead can remove come first."""

    PAUSED = "paused"
    EXAM = "exam"
    """The annotator failed the exam. A lead may grant a retake, or exempt the annotator."""
    EXAM_AHEAD = "exam_ahead"
    """The annotator has yet to take the exam, or waits for its answer key."""
    QUOTA = "quota"
    """The annotator has given all the grades of their quota."""
    ASSIGNED = "assigned"
    """The annotator is assigned to other queries."""
    SKIPPED = "skipped"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class Worker:
    """One annotator, and the facts that decide which pairs they can still grade.

    `barred` is the reason why they get no pairs at all; None if they may work. `a_day` is their number of judgements a
    day over the last seven days, limited by their daily quota. `room` is how many more grades their total quota allows;
    None without a quota. `queries` are the queries that they are assigned to; None for all.
    """

    annotator_id: AnnotatorId
    name: str
    barred: Barred | None = None
    a_day: float = 0.0
    room: int | None = None
    queries: frozenset[QueryId] | None = None


@dataclass(frozen=True, slots=True)
class PairKind:
    """A group of pairs that still need grades and have the same value in every field of this class.

    All of them can be given to annotators now.

    Attributes:
        seats: how many grades each pair needs in all.
        graded: the annotators who graded it.
        judged: how many grades it has. An annotator of an earlier campaign may have given two, so this can exceed the
            number of annotators in `graded`.
        disputed: whether the first two grades disagree.
        skipped: the annotators who skipped it.
        known: the annotators who answered it in an exam or a calibration round.
        query: its query, or one that stands for all queries with the same annotators. None where queries do not matter,
            such as while nobody is assigned to some queries only.
    """

    seats: int
    graded: frozenset[AnnotatorId]
    judged: int
    disputed: bool = False
    skipped: frozenset[AnnotatorId] = frozenset()
    known: frozenset[AnnotatorId] = frozenset()
    query: QueryId | None = None

    @property
    def free(self) -> int:
        """The number of grades that each pair of this group still needs."""
        return self.seats - self.judged


@dataclass(frozen=True, slots=True)
class Stuck:
    """A group of pairs that the team cannot finish because too few annotators can grade them.

    Suspended annotators do not belong to the team. If all are suspended, no pair counts as stuck.

    Attributes:
        places: the numbers of the grades that each pair lacks: (3, 4) for the third and the fourth.
        pairs: the number of pairs.
        lacking: how many more annotators are needed for the pair that lacks most.
        grades: the number of grades that nobody can give, over all these pairs.
        ways_out: (reason, names, pairs) for each reason that keeps annotators from these pairs. `names` are these
            annotators, and `pairs` is the largest number of pairs that the reason keeps from one of them.
    """

    places: tuple[int, ...]
    pairs: int
    lacking: int
    grades: int
    ways_out: tuple[tuple[Barred, tuple[str, ...], int], ...]


@dataclass(frozen=True, slots=True)
class QueryStuck:
    """The pairs of one query that cannot be finished without a lead, given by their ranks.

    Each item of `stuck` is a group of pairs that too few annotators can grade, with the ranks of these pairs. `blocked`
    has the ranks of unsettled pairs whose clip cannot be shown. `set_aside` has the ranks of other unsettled pairs that
    are reserved while an exam or a calibration round asks them.
    """

    stuck: tuple[tuple[Stuck, tuple[int, ...]], ...] = ()
    blocked: tuple[int, ...] = ()
    set_aside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the work may be done if all annotators go on at their own pace, and which grades will still be missing.

    Attributes:
        days: the number of days until all grades that can be given are given, with expected disputes; None while no
            annotator is giving grades.
        stuck: number of grades that nobody can give, not even annotators who have yet to pass the exam.
        over_quota: number of grades that exceed the total quotas of the annotators who could give them.
        idle: number of grades that only annotators who gave none in the last seven days can give.
        disputes: number of pairs that will be stuck if as large a share of pairs is disputed as so far.
        disputes_lack: how many more annotators are needed for the one of these pairs that lacks most.
        exam: number of grades that only annotators who have yet to pass the exam can give.
    """

    days: float | None
    stuck: int = 0
    over_quota: int = 0
    idle: int = 0
    disputes: int = 0
    disputes_lack: int = 0
    exam: int = 0

    @property
    def ends(self) -> bool:
        """Whether all pairs given to annotators will be finished without a lead's help."""
        lacking = self.stuck or self.over_quota or self.idle or self.disputes or self.exam
        return self.days is not None and not lacking


@dataclass(frozen=True, slots=True)
class WorkAhead:
    """The grades that are still to come, and what prevents some of them.

    Attributes:
        needed: number of grades missing until every unsettled pair that can be given to annotators has all its grades.
        further: number of grades that disputes will add, if as large a share of pairs is disputed as so far.
        disputed: the share of pairs with two grades that went on to two further annotators; None while too few pairs
            have two grades.
        stuck: the pairs that too few annotators can grade.
        forecast: when the work may be done.
        blocked: number of unsettled pairs whose clip cannot be shown.
        set_aside: number of other unsettled pairs that are reserved while an exam or a calibration round asks them.
    """

    needed: int
    further: int
    disputed: float | None
    stuck: tuple[Stuck, ...]
    forecast: Forecast
    blocked: int = 0
    set_aside: int = 0


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """The pace of the work, and the work that is left.

    Simulated judgements are counted only in fields named `simulated`.

    Attributes:
        ahead: the work that is left.
        held: number of pairs that annotators have been given and may grade now.
        days: the last 30 local days, the oldest first.
        people: the annotators who may work, the busiest first.
        imported: number of judgements of earlier campaigns. No other count includes these.
        a_day: number of judgements a day over the last seven days.
    """

    ahead: WorkAhead
    held: int
    days: tuple[DayCount, ...]
    people: tuple[PersonPace, ...]
    imported: int
    a_day: float


class WaitKind(StrEnum):
    """The kinds of tasks that wait for a lead."""

    DISCARDED = "discarded"
    """Discarded pairs about which no lead has decided or confirmed anything."""
    NOTES = "notes"
    """Notes without a reply."""
    SKIPPED = "skipped"
    """Unsettled pairs that somebody skipped."""
    BLOCKED = "blocked"
    """Unsettled pairs whose clip cannot be shown."""
    BATCHES = "batches"
    """Queries whose next batch is worth opening by the rule."""
    EXAM_FAILED = "exam_failed"
    """People who failed the exam and have no attempt left."""
    EXAM_ROUND = "exam_round"
    """People who finished an exam whose answer key is the median of all answers: a lead can close the round."""
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
    """Pairs of an exam whose answer key are a lead's own grades, which are missing."""
    EXAM_ANSWERS = "exam_answers"
    """Unsettled pairs of an exam of open pairs, whose answers a lead may let count."""
    RESERVED = "reserved"
    """Unsettled pairs that stay reserved until a lead ends an exam that is over."""
    REPORTED = "reported"
    """Clips that one person reported as broken, and that others still get."""
    CALIBRATION = "calibration"
    """Unsettled pairs that stay reserved until a lead ends a calibration round that everybody has finished."""


@dataclass(frozen=True, slots=True)
class Wait:
    """The tasks of one kind that wait for a lead; `count` is at least one.

    `newest` is when the newest of them arose, in seconds since 1970; None where that is not recorded. `who` names the
    people concerned, where that matters. If the tasks are to answer annotators' notes, `quote` is the text of the
    newest note; otherwise it is empty.
    """

    kind: WaitKind
    count: int
    newest: float | None = None
    who: tuple[str, ...] = ()
    quote: str = ""


@dataclass(frozen=True, slots=True)
class FlaggedPerson:
    """An annotator with quality flags (warnings about their work).

    `newest` is when they gave their newest grade or skip, in seconds since 1970; None if they gave none.
    """

    flags: PersonFlags
    newest: float | None
