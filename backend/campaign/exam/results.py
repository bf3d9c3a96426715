"""How people did in the qualification exam: attempts, scores, missed items, for leads and for the person.

*Reads* exams, attempts, answers, rulings. *Writes* nothing.
"""

from collections import Counter
from dataclasses import dataclass

from backend.campaign.exam import rows as exam
from backend.campaign.exam import taking
from backend.campaign.exam.model import ExamPhase, ExamResult
from backend.campaign.exam.rows import Attempt, Exam, Place
from backend.campaign.nouns import Annotator, Person
from backend.campaign.project import rows as facts
from backend.ground.ids import PairKey, QueryId
from backend.store.connection import Database, Store, reading


@dataclass(frozen=True, slots=True)
class Missed:
    """An item that somebody missed, for the lead and, once it was explained, for the person."""

    pair: PairKey
    query_id: QueryId
    query: str
    own: int
    right: int
    explanation: str
    again: int | None


@dataclass(frozen=True, slots=True)
class ExamAttempt:
    """One attempt. `result` is None, and nothing is told about items, until it is handed in.

    `by_grade` has, for each right grade of the scale, (missed, answered).
    """

    number: int
    started_at: float
    handed_in_at: float | None
    items: int
    answered: int
    result: ExamResult | None
    by_grade: tuple[tuple[int, int], ...]
    missed: tuple[Missed, ...]


@dataclass(frozen=True, slots=True)
class ExamPerson:
    """How one annotator stands with the exam. `phase` is None where no exam is held; `reason` is of an exemption."""

    person: Person
    phase: ExamPhase | None
    reason: str
    attempts: tuple[ExamAttempt, ...]


def overview(store: Store) -> list[ExamPerson]:
    """How everybody stands who could take the exam, by name."""
    with reading(store) as db:
        held = exam.held(db)
        return [_stands(db, person, held) for person in exam.takers(db)]


def of(store: Store, person: Annotator) -> ExamPerson:
    """How one annotator stands."""
    with reading(store) as db:
        return _stands(db, person, exam.held(db))


def _stands(db: Database, person: Person, held: Exam | None) -> ExamPerson:
    phase = taking.standing(db, person, held).phase if held else None
    ruling = exam.ruling(db, person.annotator_id) if phase is ExamPhase.EXEMPT else None
    attempts = tuple(_attempt(db, one) for one in exam.attempts(db, person.annotator_id))
    return ExamPerson(person, phase, ruling.reason if ruling else "", attempts)


def _attempt(db: Database, attempt: Attempt) -> ExamAttempt:
    there = taking.in_order(exam.places(db, attempt.exam_id, attempt.attempt_id), attempt)
    answered = [place for place in there if place.own is not None]
    done = attempt.handed_in_at is not None
    wrong = [place for place in answered if taking.is_missed(place, attempt)] if done else []
    asked, missed = Counter(place.right for place in answered), Counter(place.right for place in wrong)
    return ExamAttempt(
        attempt.number,
        attempt.started_at,
        attempt.handed_in_at,
        items=len(there),
        answered=len(answered),
        result=taking.result(there, attempt) if done else None,
        by_grade=tuple((missed[grade], asked[grade]) for grade in facts.scale(db).grades) if done else (),
        missed=tuple(_missed(place) for place in wrong),
    )


def _missed(place: Place) -> Missed:
    own = place.own if place.own is not None else 0
    return Missed(place.pair_key, place.query_id, place.query, own, place.right, place.explanation, place.again)
