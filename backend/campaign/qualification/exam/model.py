"""The exam and the calibration round as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.core.messages import said

PASS_RULE = "tvr-ranking-exam-1"
"""Written beside every exam that is set. A change of the rule needs a new name, and `PASS_RULES` keeps the old one."""


class ExamPurpose(StrEnum):
    """What a round of grading outside work is for. At most one of each is held at a time."""

    EXAM = "exam"
    CALIBRATION = "trial"
    """Everybody answers, to talk about it: no key, no result, never a judgement."""


class ExamKey(StrEnum):
    """Where the right grades of an exam come from."""

    SETTLED = "settled"
    """The relevance of settled pairs, or a lead's file about them; there from the beginning."""
    MEDIAN = "median"
    """The median of everybody who finished, when a lead closes the round."""
    OWN = "own"
    """A lead's own grades, when they hand them in."""
    NONE = "none"
    """A calibration round has no key."""

    @property
    def comes_later(self) -> bool:
        """Whether the exam is of open pairs, and begins without its key."""
        return self in (ExamKey.MEDIAN, ExamKey.OWN)

    @property
    def purpose(self) -> ExamPurpose:
        """What a round with such a key is for."""
        return ExamPurpose.CALIBRATION if self is ExamKey.NONE else ExamPurpose.EXAM


class ExamPhase(StrEnum):
    """How somebody stands with the qualification exam of the project."""

    FIRST = "first"
    """The exam comes before any pair; it (or another attempt) may be begun."""
    ANSWERING = "answering"
    ANSWERED = "answered"
    """Every item has an answer, which may still be corrected; not handed in."""
    WAITING = "waiting"
    """Handed in, and the exam has no key yet: nothing is told until it has."""
    RESULT = "result"
    """Handed in; the person has not read the result yet."""
    AGAIN = "again"
    """Missed items are explained, and graded again until they agree with the key."""
    FAILED = "failed"
    """Too many missed: a lead grants another attempt, or exempts."""
    PASSED = "passed"
    EXEMPT = "exempt"
    DONE = "done"
    """A calibration round was finished: it stands before work no more."""
    KEY = "key"
    """For a lead: the exam has its key."""


@dataclass(frozen=True, slots=True)
class ExamScore:
    """The result of an exam attempt, as its annotator sees it.

    An answer misses if it differs from the answer key by more than the tolerance.
    """

    answers: int
    missed: int
    most_missed: float
    """At most this share of the answers may miss, in percent."""
    passed: bool


@dataclass(frozen=True, slots=True)
class ExamResult(ExamScore):
    """The result of an exam attempt, as leads see it."""

    kappa: float | None
    """Cohen's kappa of answers and key; None where it is undefined, and then `undefined` says why."""
    kappa_quadratic: float | None
    undefined: str = ""

    @property
    def score(self) -> ExamScore:
        """The part that the annotator may see."""
        return ExamScore(self.answers, self.missed, self.most_missed, self.passed)


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
    """0 where a retake is drawn when it begins."""
    answered: int
    most_missed: float
    tolerance: int
    """How far an answer may be from the right grade and still agree."""
    result: ExamScore | None = None
    purpose: ExamPurpose = ExamPurpose.EXAM
    gives_key: bool = False
    """Whether a lead gives the key here, instead of somebody taking the exam."""
    may_count: bool = False
    """Whether a lead may let these answers count as judgements later: the exam is of open pairs."""
    missed: tuple[ExamMiss, ...] = ()
    """Those of the desk's items."""


@dataclass(frozen=True, slots=True)
class CalibrationAnswer:
    """What somebody answered in a calibration round, and wrote with it."""

    annotator_id: AnnotatorId
    name: str
    grade: int
    note: str


@dataclass(frozen=True, slots=True)
class CalibrationPair:
    """One pair of a calibration round with all its answers, in the order of names."""

    pair: PairKey
    query_id: QueryId
    query: str
    video: str
    start_s: float
    end_s: float
    rank: int
    answers: tuple[CalibrationAnswer, ...]

    @property
    def spread(self) -> int:
        """How far the highest grade is from the lowest; 0 where fewer than two people answered."""
        grades = [answer.grade for answer in self.answers]
        return max(grades, default=0) - min(grades, default=0)

    @property
    def notes(self) -> int:
        """How many people wrote something with their answer."""
        return sum(bool(answer.note) for answer in self.answers)


@dataclass(frozen=True, slots=True)
class CalibrationPerson:
    """How far somebody is with a calibration round."""

    annotator_id: AnnotatorId
    name: str
    answered: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class CalibrationRound:
    """A calibration round as leads read it: the pairs that people disagree about most come first."""

    set_at: float
    set_by: str | None
    ended_at: float | None
    seed: int | None
    people: tuple[CalibrationPerson, ...]
    pairs: tuple[CalibrationPair, ...]

    def called(self, *, names: bool) -> dict[AnnotatorId, str]:
        """What everybody is called: by name, or by a number that is theirs throughout."""
        return {one.annotator_id: one.name if names else f"Annotator {nth}" for nth, one in enumerate(self.people, 1)}


@dataclass(frozen=True, slots=True)
class Exam:
    """One exam.

    `source` is `settled pairs`, `open pairs` or the name of a file; at most `most_missed` percent of the answers may be
    farther from the key than `tolerance`, which is that of the campaign.
    """

    exam_id: int
    set_at: float
    set_by: str | None
    source: str
    seed: int | None
    most_missed: float
    tolerance: int
    items: int
    queries: int
    showable: int
    """Items whose clip can be shown, and that have a key where the exam has one."""
    purpose: ExamPurpose = ExamPurpose.EXAM
    key_from: ExamKey = ExamKey.SETTLED
    closed_at: float | None = None
    """Since when the key is there."""
    used_at: float | None = None
    """When answers became judgements."""
    ended_at: float | None = None

    @property
    def stage(self) -> str:
        """Where it stands: `round open`, `key fixed` or `over`."""
        return "over" if self.ended_at is not None else "round open" if self.closed_at is None else "key fixed"

    @property
    def usable(self) -> bool:
        """Whether a lead may let answers count: of an exam of open pairs, once, when its key is there or it is over."""
        return self.key_from.comes_later and self.used_at is None and self.stage != "round open"


@dataclass(frozen=True, slots=True)
class ExamItem:
    """An item of an exam, with what one attempt has of it."""

    item_id: int
    query_id: QueryId
    query: str
    pair_id: PairId
    pair_key: PairKey
    duration_s: float
    whole: bool
    right: int | None
    """None while the exam has no key."""
    explanation: str
    blocked: bool
    """Not asked: its clip cannot be shown, or the key leaves it out."""
    own: int | None
    again: int | None
    note: str = ""
    """What was written with the answer, in a calibration round."""
    alternate: bool = False
    """Whether only retakes ask this item."""


EXAM_SET = Event(
    "exam_set", EventGroup.TRAINING, said("set an exam of {items} pairs; at most {most_missed} % may be missed")
)
"""source, seed, items, queries, most_missed, exempted: how many people who had graded before; key: where from"""
EXAM_ENDED = Event("exam_ended", EventGroup.TRAINING, said("ended the exam"))
"""replaced: whether another exam took its place"""
EXAM_CLOSED = Event("exam_closed", EventGroup.TRAINING, said("closed the exam: {finished} people had finished"))
"""key (median, own), finished: how many people, items that have a key"""
EXAM_USED = Event(
    "exam_used", EventGroup.TRAINING, said("let {judgements} first answers about {pairs} pairs count as judgements")
)
"""pairs, judgements: first answers that count as judgements from now on"""
EXAM_EXPLAINED = Event("exam_explained", EventGroup.TRAINING, said("explained an item: “{explanation}”"))
"""pair, explanation"""
EXAM_STARTED = Event("exam_started", EventGroup.TRAINING, said("started the exam, attempt {number}"))
"""exam, number: the person's how manyeth attempt"""
EXAM_HANDED_IN = Event(
    "exam_handed_in", EventGroup.TRAINING, said("handed in the exam, attempt {number}: {answers} answers")
)
"""exam, number, answers; where the exam has its key also missed, passed"""
EXAM_RETAKE = Event("exam_retake", EventGroup.TRAINING, said("allowed another attempt at the exam"))
"""after_attempt: a lead lets somebody try again"""
EXAM_EXEMPTED = Event("exam_exempted", EventGroup.TRAINING, said("exempted somebody from the exam"))
"""reason: why somebody needs no exam"""
