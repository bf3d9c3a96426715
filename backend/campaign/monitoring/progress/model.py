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
    """Why the annotator gets no pair at all; None if they may work."""
    a_day: float = 0.0
    """Judgements a day, over the last seven days, limited by their daily quota."""
    room: int | None = None
    """How many more grades their quota in all allows; None without a quota."""
    queries: frozenset[QueryId] | None = None
    """The queries that they are assigned to; None for all."""


@dataclass(frozen=True, slots=True)
class PairKind:
    """A group of pairs that still need grades and have the same value in every field of this class.

    All of them can be given to annotators now. `seats` is how many grades each needs in all, and `judged` how many it
    has. `graded` has the annotators who graded it, `skipped` those who skipped it, and `known` those who answered it in
    an exam or a calibration round. `disputed` says whether the first two grades disagree. `query` is None unless
    somebody is assigned to some queries only.
    """

    seats: int
    graded: frozenset[AnnotatorId]
    judged: int
    """Seats with a grade. An earlier campaign may have two grades of one person, so this can exceed the people in
    `graded`.
    """
    disputed: bool = False
    """Whether the first two grades do not agree."""
    skipped: frozenset[AnnotatorId] = frozenset()
    known: frozenset[AnnotatorId] = frozenset()
    """The annotators who answered the pair in an exam or a calibration round."""
    query: QueryId | None = None
    """Set only where somebody is assigned to some queries."""

    @property
    def free(self) -> int:
        """The number of grades that each pair of this group still needs."""
        return self.seats - self.judged


@dataclass(frozen=True, slots=True)
class Stuck:
    """A group of pairs that the team cannot finish because too few annotators can grade them.

    `places` are the numbers of the grades that each pair lacks: (3, 4) for the third and the fourth. `pairs` counts the
    pairs, and `grades` the grades that nobody can give. `lacking` is how many more annotators are needed. `ways_out`
    lists what keeps annotators from these pairs, as (reason, names, pairs): the names of these annotators, and the
    largest number of pairs that the reason keeps from one of them. Suspended annotators do not belong to the team. If
    all are suspended, no pair counts as stuck.
    """

    places: tuple[int, ...]
    """Which of their grades are missing: (3, 4) for the third and the fourth."""
    pairs: int
    lacking: int
    """How many more people are needed for the pair that lacks most."""
    grades: int
    """Grades that nobody can give, over all these pairs."""
    ways_out: tuple[tuple[Barred, tuple[str, ...], int], ...]
    """(reason, names, pairs): why some annotators cannot grade them, their names, and for how many pairs it matters."""


@dataclass(frozen=True, slots=True)
class QueryStuck:
    """The pairs of one query that cannot be finished without a lead, given by their ranks.

    Each item of `stuck` is a group of pairs that too few annotators can grade, with the ranks of these pairs. `blocked`
    has the ranks of pairs whose clip cannot be shown. `set_aside` has those that an exam or a calibration round
    reserves.
    """

    stuck: tuple[tuple[Stuck, tuple[int, ...]], ...] = ()
    blocked: tuple[int, ...] = ()
    """Pairs whose clip cannot be shown."""
    set_aside: tuple[int, ...] = ()
    """Pairs that are reserved while an exam or a calibration round asks them."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """When the work may be done if all annotators go on at their own pace, and which grades will still be missing.

    `days` is the number of days until then; None while no annotator is giving grades. The next fields count grades by
    the reason why nobody gives them: too few annotators (`stuck`), quotas (`over_quota`), annotators who gave none for
    a week (`idle`), or an exam still to be passed (`exam`). `disputes` counts pairs that too few annotators can finish
    if their first two grades disagree. `disputes_lack` is how many more annotators these pairs need.
    """

    days: float | None
    """Days until all grades that can be given are given, with expected disputes; None while nobody has a pace."""
    stuck: int = 0
    """Grades that nobody can give, not even annotators who have yet to pass the exam."""
    over_quota: int = 0
    """Grades that exceed the quotas in all of those who could give them."""
    idle: int = 0
    """Grades that only people who gave none in the last seven days can give."""
    disputes: int = 0
    """Pairs that will be stuck if as many are disputed as so far."""
    disputes_lack: int = 0
    """How many more annotators those pairs would need."""
    exam: int = 0
    """Grades that only people who have yet to pass the exam can give."""

    @property
    def ends(self) -> bool:
        """Whether all pairs given to annotators will be finished without a lead's help."""
        lacking = self.stuck or self.over_quota or self.idle or self.disputes or self.exam
        return self.days is not None and not lacking


@dataclass(frozen=True, slots=True)
class WorkAhead:
    """The grades that are still to come, and what prevents some of them.

    `needed` counts grades that are missing now, and `further` those that disputes are expected to add. `disputed` is
    the share of pairs whose first two grades disagreed; None while too few pairs have two grades. `stuck` has the pairs
    that too few annotators can grade. `blocked` counts unsettled pairs whose clip cannot be shown, and `set_aside`
    those that an exam or a calibration round reserves.
    """

    needed: int
    """Grades that are missing until every open or escalated pair that can be handed out has all its seats judged."""
    further: int
    """Further grades if as large a share of the open pairs is disputed as so far."""
    disputed: float | None
    """Share of the pairs with two grades that went on to two further annotators; None while there are too few."""
    stuck: tuple[Stuck, ...]
    forecast: Forecast
    blocked: int = 0
    """Unsettled pairs whose clip cannot be shown."""
    set_aside: int = 0
    """Pairs that are reserved while an exam or a calibration round asks them."""


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """The pace of the work, and the work that is left.

    `held` counts the pairs that annotators have been given and may grade now. `days` has the last 30 days, and `people`
    the annotators who may work, the busiest first. `a_day` is the number of judgements a day over the last seven days.
    `imported` counts judgements of earlier campaigns. No other count includes these. Simulated judgements are counted
    only in fields named `simulated`.
    """

    ahead: WorkAhead
    held: int
    """Pairs that annotators hold now."""
    days: tuple[DayCount, ...]
    """The last 30 local days, the oldest first."""
    people: tuple[PersonPace, ...]
    """Annotators who may work, the busiest first."""
    imported: int
    """Judgements of earlier campaigns."""
    a_day: float
    """Judgements a day, over the last seven days."""


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
    """When the newest of them came, in seconds since 1970; None where that is not recorded."""
    who: tuple[str, ...] = ()
    """The people it is about, where that matters."""
    quote: str = ""
    """The text of the newest note."""


@dataclass(frozen=True, slots=True)
class FlaggedPerson:
    """An annotator with quality flags (warnings about their work).

    `newest` is when they gave their newest grade or skip, in seconds since 1970; None if they gave none.
    """

    flags: PersonFlags
    newest: float | None
