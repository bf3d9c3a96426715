"""The nouns of ReelRank as plain values: what passes between stages, and between the api and the screens.

The words are defined in docs/concepts.md. Units stand in the names: `_s` seconds, `_ms` milliseconds, `_px`
pixels. Instants (`at`, `until`) are seconds since 1970-01-01 UTC.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import NewType

VideoId = NewType("VideoId", int)
MomentId = NewType("MomentId", int)
QueryId = NewType("QueryId", int)
BatchId = NewType("BatchId", int)
PairId = NewType("PairId", int)
AnnotatorId = NewType("AnnotatorId", int)
PairKey = NewType("PairKey", str)
"""The opaque name of a pair in a browser: random, so it tells nothing about query, moment, rank or order."""

Relevance = int
"""Consensus of a pair, 0 (unrelated) to 4 (exact)."""


class Grade(IntEnum):
    """One annotator's judgement of one pair."""

    UNRELATED = 0
    TOUCHES = 1
    PARTLY = 2
    WELL = 3
    EXACTLY = 4


class Role(StrEnum):
    """What a person may do; every page and route checks it."""

    ANNOTATOR = "annotator"
    LEAD = "lead"


class Split(StrEnum):
    """Which part of a release a query belongs to."""

    VAL = "val"
    TEST = "test"
    TRAIN = "train"


class Verdict(StrEnum):
    """What the consensus rule, or a lead, says about one pair."""

    OPEN = "open"
    """Fewer than two grades so far."""
    ESCALATED = "escalated"
    """The first two grades differ by more than 1: two further annotators are needed."""
    CONSENSUS = "consensus"
    DISCARDED = "discarded"
    """Four grades, and the middle two still differ by more than 1."""
    ADJUDICATED = "adjudicated"
    """A lead decided; overrides the rule, erases nothing."""


@dataclass(frozen=True, slots=True)
class CaptionedMoment:
    """One line of an annotation file: a half-open span `[start_s, end_s)` of a video and a sentence about it.

    `row` is the line in its file, counting from 1, kept so that later findings can name it.
    """

    video: str
    start_s: float
    end_s: float
    caption: str
    row: int
    duration_s: float | None = None
    external_id: str | None = None


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What was measured of one video file. `fps` is the exact average frame rate."""

    path: str
    fps: Fraction
    duration_s: float
    width_px: int
    height_px: int
    has_audio: bool
    sha256: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may sign in."""

    annotator_id: AnnotatorId
    name: str
    role: Role
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class DeskItem:
    """One pair in an annotator's hands, with nothing in it that could bias the grade.

    `position` of `total` counts this person's pairs of the query; `grade` is the person's own earlier grade
    when the pair is offered again for correction.
    """

    pair: PairKey
    query: str
    position: int
    total: int
    duration_s: float
    grade: int | None = None


class ExamPhase(StrEnum):
    """How somebody stands with the qualification exam of the project."""

    FIRST = "first"
    """The exam comes before any pair; it (or another attempt) may be begun."""
    ANSWERING = "answering"
    ANSWERED = "answered"
    """Every item has an answer, which may still be corrected; not handed in."""
    RESULT = "result"
    """Handed in; the person has not read the result yet."""
    AGAIN = "again"
    """Missed items are explained, and graded again until they agree with the key."""
    FAILED = "failed"
    """Too many missed: a lead grants another attempt, or exempts."""
    PASSED = "passed"
    EXEMPT = "exempt"


@dataclass(frozen=True, slots=True)
class ExamResult:
    """What an attempt came to. An answer misses the key where it differs from it by more than 1."""

    answers: int
    missed: int
    most_missed: float
    """At most this share of the answers may miss, in percent."""
    passed: bool
    kappa: float | None
    """Cohen's kappa of answers and key; None where it is undefined, and then `undefined` says why."""
    kappa_quadratic: float | None
    undefined: str = ""


@dataclass(frozen=True, slots=True)
class ExamMiss:
    """A missed item, told after the attempt was handed in: what the person gave, what is right, and why."""

    pair: PairKey
    own: int
    right: int
    explanation: str
    again: int | None
    """What the person gave when they looked again, if they did."""


@dataclass(frozen=True, slots=True)
class ExamDesk:
    """The exam as the person who takes it sees it. `result` and `missed` are empty until it is handed in."""

    phase: ExamPhase
    attempt: int
    items: int
    queries: int
    answered: int
    most_missed: float
    result: ExamResult | None = None
    missed: tuple[ExamMiss, ...] = ()
    """Those of the desk's items."""


class DeskState(StrEnum):
    """Why an annotator's queue is as it is; the screen says it in words."""

    READY = "ready"
    FINISHED = "finished"
    """This person has graded everything they may grade."""
    WAITING = "waiting"
    """All that is left is held by other people just now."""
    NOTHING = "nothing"
    """No batch is open yet."""
    EXAM = "exam"
    """The exam comes first, and just now it has no clip to show; `Desk.exam` tells why."""


@dataclass(frozen=True, slots=True)
class Desk:
    """An annotator's desk: what to grade next, and how far they are.

    `previous` is the last pair this person graded, if they may still correct it (undo after a reload).
    """

    state: DeskState
    items: tuple[DeskItem, ...]
    previous: DeskItem | None
    today: int
    in_all: int
    waiting: int = 0
    """How many pairs this person could still grade but others hold just now."""
    skipped: int = 0
    """With nothing to grade: how many open pairs this person skipped, which are left to others."""
    exam: ExamDesk | None = None
    """While the items are those of the exam, or could be."""


@dataclass(frozen=True, slots=True)
class GradeEvent:
    """A grade as a browser sends it; `key` is made once per key press, so that sending twice changes nothing."""

    pair: PairKey
    grade: int
    key: str
    active_ms: int = 0
    """Time of work on the pair: a hidden tab, and more than 30 s without any input, left out."""
    elapsed_ms: int | None = None
    """All time from the first painted frame to the key press; None where nobody measured it."""
    contexts: int = 0
    """How often the seconds around the moment were looked at before the key press."""


class SkipKind(StrEnum):
    """Why somebody does not judge a pair. None of them is a grade."""

    SKIP = "skip"
    """This person rather not; others may."""
    CANNOT_JUDGE = "cannot_judge"
    """Query or clip give no ground for a grade."""
    BROKEN_CLIP = "broken_clip"
    """The clip cannot be shown: nobody gets the moment until a lead hands it out again."""


@dataclass(frozen=True, slots=True)
class SkipEvent:
    """A skip as a browser sends it, with a key like a grade's."""

    pair: PairKey
    kind: SkipKind
    reason: str
    key: str


class ReceiptStatus(StrEnum):
    """What became of a grade event."""

    SAVED = "saved"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to one `GradeEvent`: saved means committed, refused says why in words for the annotator."""

    key: str
    status: ReceiptStatus
    message: str = ""


@dataclass(frozen=True, slots=True)
class GivenGrade:
    """A standing grade of a pair, as the lead sees it. `round` is 1 for seats 1-2, 2 for seats 3-4."""

    annotator: str
    grade: int
    round: int
    at: float
    active_ms: int
    too_fast: bool = False
    """Given in less time than the clip can be seen in; see `backend.core.pace`."""


@dataclass(frozen=True, slots=True)
class GivenSkip:
    """Somebody's skip of a pair that still stands, as the lead sees it."""

    annotator: str
    kind: SkipKind
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
    reason: str = ""
    """Why a lead decided so."""
    fault: str = ""
    """Why the clip cannot be shown."""
    skips: tuple[GivenSkip, ...] = ()


@dataclass(frozen=True, slots=True)
class QueryReview:
    """One query on the lead's page.

    `relevances` are those of batch 1 in rank order, None where undecided; the last five decide about batch 2.
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
    """Whether a further batch exists and may be opened now (batch 1 settled)."""

    @property
    def last_five(self) -> tuple[int | None, ...]:
        """Relevances of the five lowest-ranked candidates of batch 1 (ranks 16-20)."""
        return self.relevances[-5:]


@dataclass(frozen=True, slots=True)
class PersonReview:
    """One row of the lead's people page."""

    person: Person
    has_password: bool
    judgements: int
    """Pairs with a standing grade of this person."""
    last_at: float | None
    today: int = 0
    active_s: float | None = None
    """Median active time a grade; None without any measured grade."""
    too_fast: int = 0
    """Standing grades given in less time than the clip can be seen in."""
    skips: int = 0


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
class Progress:
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


@dataclass(frozen=True, slots=True)
class Agreement:
    """How one person's grades compare with the relevance of pairs that are settled for good. Never about one pair."""

    pairs: int
    equal: float
    """Share of grades that are the relevance."""
    within_one: float
    difference: float
    """Mean of grade minus agreed value (the mean behind a consensus, a lead's relevance); above 0: more generous."""


@dataclass(frozen=True, slots=True)
class MyWork:
    """What an annotator may know of their own work. Judgements of earlier campaigns are left out."""

    today: int
    """Pairs graded for the first time since midnight."""
    week: int
    """The same, today and the six days before."""
    in_all: int
    simulated: int
    """How many of them a program made (demonstrations)."""
    days: tuple[tuple[str, int], ...]
    """(`2026-03-14`, pairs) of the last 30 local days, the oldest first."""
    active_s: float
    """Active time of all grades and corrections together."""
    median_s: float | None
    """Median active time of a grade that counts; None without any measured one."""
    grades: tuple[int, int, int, int, int]
    """How often each grade 0-4 was given."""
    skips: int
    settled: int
    """Pairs that `agreement` may speak of."""
    agreement: Agreement | None
    """None while `settled` is too small to say anything."""
