"""Data types of the exam and the calibration round."""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.events import Event, EventGroup
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.core.messages import said

PASS_RULE = "tvr-ranking-exam-1"
"""The name of the pass rule, stored with every exam. Give a changed rule a new name; `PASS_RULES` keeps the old one."""


class ExamPurpose(StrEnum):
    """The purpose of a round of grading outside ordinary work: an exam, or calibration.

    At most one round of each purpose is open at a time.
    """

    EXAM = "exam"
    CALIBRATION = "trial"
    """Everybody answers, to talk about it: there is no key and no result, and no answer becomes a judgement."""


class ExamKey(StrEnum):
    """The source of the right grades of an exam."""

    SETTLED = "settled"
    """The relevance of settled pairs, or a lead's file about them. The key is there from the beginning."""
    MEDIAN = "median"
    """The median of everybody who finished, computed when a lead closes the round."""
    OWN = "own"
    """A lead's own grades, once they hand them in."""
    NONE = "none"
    """A calibration round has no key."""

    @property
    def comes_later(self) -> bool:
        """Whether the exam begins without right grades, because it asks pairs that nobody has graded yet."""
        return self in (ExamKey.MEDIAN, ExamKey.OWN)

    @property
    def purpose(self) -> ExamPurpose:
        """The purpose (exam or calibration) of a round whose right grades come from this source."""
        return ExamPurpose.CALIBRATION if self is ExamKey.NONE else ExamPurpose.EXAM


class ExamPhase(StrEnum):
    """An annotator's progress in the current exam or calibration round."""

    FIRST = "first"
    """An attempt, the first or a further one, may be begun. Until the exam is passed the person gets no other pair."""
    ANSWERING = "answering"
    ANSWERED = "answered"
    """Every item has an answer, but the attempt is not handed in. Answers may still be corrected."""
    WAITING = "waiting"
    """The attempt is handed in, but the exam has no key yet. Until then the person sees no result."""
    RESULT = "result"
    """The attempt is handed in, and the person has not read the result yet."""
    AGAIN = "again"
    """The person reads explanations of the missed items and grades these again until they agree with the key."""
    FAILED = "failed"
    """Too many answers missed: only a lead can grant another attempt, or exempt the person."""
    PASSED = "passed"
    EXEMPT = "exempt"
    DONE = "done"
    """The person has finished the calibration round, so it no longer keeps them from work."""
    KEY = "key"
    """Shown to a lead: the exam has its key."""


@dataclass(frozen=True, slots=True)
class ExamScore:
    """The result of an exam attempt, as its annotator sees it.

    `missed` counts the answers that differ from the right grade by more than the tolerance. To pass, at most
    `most_missed` percent of the answers may miss in this way.
    """

    answers: int
    missed: int
    most_missed: float
    passed: bool


@dataclass(frozen=True, slots=True)
class ExamResult(ExamScore):
    """The result of an exam attempt, as leads see it: the score, and the agreement with the answer key.

    `kappa` is Cohen's kappa between answers and key, and `kappa_quadratic` the same with quadratic weights. A kappa is
    None where it is undefined, and then `undefined` says why.
    """

    kappa: float | None
    kappa_quadratic: float | None
    undefined: str = ""

    @property
    def score(self) -> ExamScore:
        """The part of the result that the annotator may see."""
        return ExamScore(self.answers, self.missed, self.most_missed, self.passed)


@dataclass(frozen=True, slots=True)
class ExamMiss:
    """A missed item as the annotator sees it after handing in: their grade, the right grade, and the explanation.

    `pair` is the item's name in the browser. `own` is the annotator's grade, and `again` the one that they gave after
    reading the explanation; None if they gave none.
    """

    pair: PairKey
    own: int
    right: int
    explanation: str
    again: int | None


@dataclass(frozen=True, slots=True)
class ExamDesk:
    """The state of an exam as the annotator or lead who takes it sees it.

    Attributes:
        attempt: the number of the attempt, from 1.
        items: how many items the attempt has.
        queries: how many queries the items belong to; 0 where a retake is drawn only when it begins.
        answered: how many of the items are answered.
        most_missed: the percentage of answers that may miss the right grade.
        tolerance: the largest difference between an answer and the right grade that still counts as agreement.
        result: the score; None until the attempt is handed in and the exam has its answer key.
        gives_key: True if a lead takes the exam to give the answer key; False for an annotator.
        may_count: True if the answers may become judgements (stored grades) later, because the exam asks open pairs.
        missed: the missed items among those on the desk. It is empty as long as there is no `result`.
    """

    phase: ExamPhase
    attempt: int
    items: int
    queries: int
    answered: int
    most_missed: float
    tolerance: int
    result: ExamScore | None = None
    purpose: ExamPurpose = ExamPurpose.EXAM
    gives_key: bool = False
    may_count: bool = False
    missed: tuple[ExamMiss, ...] = ()


@dataclass(frozen=True, slots=True)
class CalibrationAnswer:
    """One annotator's grade and note for one pair of a calibration round."""

    annotator_id: AnnotatorId
    name: str
    grade: int
    note: str


@dataclass(frozen=True, slots=True)
class CalibrationPair:
    """One pair of a calibration round with everybody's answers, sorted by the annotators' names.

    `rank` is the moment's place in the candidate list of its query, from 1.
    """

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
        """The difference between the highest and the lowest grade; 0 where fewer than two people answered."""
        grades = [answer.grade for answer in self.answers]
        return max(grades, default=0) - min(grades, default=0)

    @property
    def notes(self) -> int:
        """The number of people who wrote a note with their answer."""
        return sum(bool(answer.note) for answer in self.answers)


@dataclass(frozen=True, slots=True)
class CalibrationPerson:
    """One annotator's progress in a calibration round."""

    annotator_id: AnnotatorId
    name: str
    answered: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class CalibrationRound:
    """A calibration round as leads read it. The pairs with the largest disagreement come first.

    Times are in seconds since 1970. `set_by` names the lead who started the round; None for the command line.
    `ended_at` is None while the round is open.
    """

    set_at: float
    set_by: str | None
    ended_at: float | None
    seed: int | None
    people: tuple[CalibrationPerson, ...]
    pairs: tuple[CalibrationPair, ...]

    def called(self, *, names: bool) -> dict[AnnotatorId, str]:
        """Return how to show each annotator: by name if `names`, otherwise as "Annotator 1", "Annotator 2" and so on.

        An annotator's number is the same throughout the round.
        """
        return {
            person.annotator_id: person.name if names else f"Annotator {nth}"
            for nth, person in enumerate(self.people, 1)
        }


@dataclass(frozen=True, slots=True)
class Exam:
    """One exam or calibration round. Times are in seconds since 1970.

    Attributes:
        source: where the pairs come from: `settled pairs`, `open pairs` or the name of a file.
        most_missed: the percentage of answers that an annotator may miss and still pass.
        tolerance: the largest difference between an answer and the right grade that still counts as agreement.
        items: the number of pairs.
        queries: the number of queries of these pairs.
        showable: the number of items that can be asked now. Their clip can be shown, and they have a right grade once
            the exam has its key.
        closed_at: when the exam got its key; None while it has none.
        used_at: when answers became judgements; None if they did not.
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
    purpose: ExamPurpose = ExamPurpose.EXAM
    key_from: ExamKey = ExamKey.SETTLED
    closed_at: float | None = None
    used_at: float | None = None
    ended_at: float | None = None

    @property
    def stage(self) -> str:
        """The stage of the exam: `round open` until it has its answer key, then `key fixed`; `over` once it ended."""
        return "over" if self.ended_at is not None else "round open" if self.closed_at is None else "key fixed"

    @property
    def usable(self) -> bool:
        """Whether a lead may turn answers of this exam into judgements (stored grades).

        The exam must have asked pairs that nobody had graded, and have its answer key or be over. It can be done only
        once.
        """
        return self.key_from.comes_later and self.used_at is None and self.stage != "round open"


@dataclass(frozen=True, slots=True)
class ExamItem:
    """An item of an exam, with one annotator's answers to it.

    Attributes:
        whole: whether the clip is the whole video.
        right: the right grade; None while the exam has no key, or if the key leaves the item out.
        blocked: True if the item is not asked, because its clip cannot be shown or the key leaves it out.
        own: the newest answer given before the right grade was known; None if there is none.
        again: the newest answer given after the explanation; None if there is none.
        note: the note written with the answer, in a calibration round.
        alternate: True if only retakes ask this item.
    """

    item_id: int
    query_id: QueryId
    query: str
    pair_id: PairId
    pair_key: PairKey
    duration_s: float
    whole: bool
    right: int | None
    explanation: str
    blocked: bool
    own: int | None
    again: int | None
    note: str = ""
    alternate: bool = False


EXAM_SET = Event(
    "exam_set", EventGroup.TRAINING, said("set an exam of {items} pairs; at most {most_missed} % may be missed")
)
"""source, seed, items, queries, most_missed, exempted (how many people, who had graded before), key (its source)"""
EXAM_ENDED = Event("exam_ended", EventGroup.TRAINING, said("ended the exam"))
"""replaced: whether another exam took its place"""
EXAM_CLOSED = Event("exam_closed", EventGroup.TRAINING, said("closed the exam: {finished} people had finished"))
"""key (median, own), finished (how many people), items (how many have a right grade)"""
EXAM_USED = Event(
    "exam_used", EventGroup.TRAINING, said("let {judgements} first answers about {pairs} pairs count as judgements")
)
"""pairs, judgements: how many first answers count as judgements from now on"""
EXAM_EXPLAINED = Event("exam_explained", EventGroup.TRAINING, said("explained an item: “{explanation}”"))
"""pair, explanation"""
EXAM_STARTED = Event("exam_started", EventGroup.TRAINING, said("started the exam, attempt {number}"))
"""exam, number: 1 for the person's first attempt"""
EXAM_HANDED_IN = Event(
    "exam_handed_in", EventGroup.TRAINING, said("handed in the exam, attempt {number}: {answers} answers")
)
"""exam, number, answers; also missed and passed if the exam has its key"""
EXAM_RETAKE = Event("exam_retake", EventGroup.TRAINING, said("allowed another attempt at the exam"))
"""after_attempt: the number of the person's last attempt"""
EXAM_EXEMPTED = Event("exam_exempted", EventGroup.TRAINING, said("exempted somebody from the exam"))
"""reason: why the person needs no exam"""
