"""How somebody stands with the exam: derived from their attempts, answers, and what leads decided.

*Reads* exams, attempts, answers, rulings. *Writes* nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import ExamPhase, ExamPurpose, ExamResult
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.attempts import Attempt
from backend.campaign.qualification.exam.rows.exams import Exam, Place
from backend.campaign.qualification.exam.rules.marking import mark, misses
from backend.store.connection import Database


@dataclass(frozen=True, slots=True)
class ExamStanding:
    """How somebody stands with the exam; `places` are those of `attempt`, in the order in which they are shown."""

    phase: ExamPhase
    attempt: Attempt | None
    places: Sequence[Place] = ()


def standing(db: Database, person: Person, held: Exam) -> ExamStanding:
    """Where somebody is, from their newest attempt and what a lead decided last.

    Whoever passed an earlier exam of the project has passed; whoever began one that is not held any more, or waits for
    the key of one, begins anew. Of a trial nothing is known but whether it was finished.
    """
    if held.purpose is ExamPurpose.TRIAL:
        return _in_trial(db, person, held)
    ruling, attempt = attempts.ruling(db, person.annotator_id), attempts.newest(db, person.annotator_id)
    if ruling is not None and ruling.kind == "exempt":
        return ExamStanding(ExamPhase.EXEMPT, attempt)
    if attempt is None or not (attempt.held or (attempt.handed_in_at is not None and attempt.keyed)):
        return ExamStanding(ExamPhase.FIRST, attempt)
    if attempt.handed_in_at is not None and ruling is not None and ruling.after_attempt == attempt.number:
        return ExamStanding(ExamPhase.FIRST, attempt)
    there = in_order(exams.places(db, attempt.exam_id, attempt.attempt_id), attempt)
    if attempt.handed_in_at is None:
        return ExamStanding(_answering(there), attempt, there)
    if not attempt.keyed:
        return ExamStanding(ExamPhase.WAITING, attempt, there)
    if attempt.read_at is None:
        return ExamStanding(ExamPhase.RESULT, attempt, there)
    if any(to_look_at_again(place, attempt) and not place.blocked for place in there):
        return ExamStanding(ExamPhase.AGAIN, attempt, there)
    return ExamStanding(ExamPhase.PASSED if result(there, attempt).passed else ExamPhase.FAILED, attempt, there)


def _in_trial(db: Database, person: Person, held: Exam) -> ExamStanding:
    attempt = attempts.newest(db, person.annotator_id, ExamPurpose.TRIAL)
    if attempt is None or attempt.exam_id != held.exam_id:
        return ExamStanding(ExamPhase.FIRST, attempt)
    there = in_order(exams.places(db, attempt.exam_id, attempt.attempt_id), attempt)
    return ExamStanding(ExamPhase.DONE if attempt.handed_in_at is not None else _answering(there), attempt, there)


def _answering(places: Sequence[Place]) -> ExamPhase:
    left = any(place.own is None and not place.blocked for place in places)
    return ExamPhase.ANSWERING if left else ExamPhase.ANSWERED


def in_order(places: Sequence[Place], attempt: Attempt) -> list[Place]:
    """The order of one attempt: the items of a query together, both shuffled by a key that no browser is sent."""

    def place(of: str) -> bytes:
        return blake2b(f"{attempt.order_key}:{of}".encode(), digest_size=8).digest()

    return sorted(places, key=lambda item: (place(f"query {item.query_id}"), place(f"item {item.item_id}")))


def result(places: Sequence[Place], attempt: Attempt) -> ExamResult:
    """What an attempt came to."""
    answers = [(place.own, place.right) for place in places if place.own is not None and place.right is not None]
    return mark(answers, attempt.most_missed, attempt.tolerance, attempt.rule_version)


def is_missed(place: Place, attempt: Attempt) -> bool:
    """Whether the answer to an item misses its key."""
    return place.own is not None and place.right is not None and misses(place.own, place.right, attempt.tolerance)


def to_look_at_again(place: Place, attempt: Attempt) -> bool:
    """Whether an item was missed, and has not been graded again within reach of its key."""
    still = place.again is None or place.right is None or misses(place.again, place.right, attempt.tolerance)
    return is_missed(place, attempt) and still
