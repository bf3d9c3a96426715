"""Tell how somebody stands with the exam or the calibration round: derived from attempts, answers and exemptions.

*Reads* exams, attempts, answers, waivers. *Writes* nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from backend.campaign.nouns import Person
from backend.campaign.qualification.answers.rules import misses
from backend.campaign.qualification.exam.model import Exam, ExamItem, ExamPhase, ExamPurpose, ExamResult
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.rows.attempts import Attempt
from backend.campaign.qualification.exam.rules.marking import mark
from backend.store.connection import Database


@dataclass(frozen=True, slots=True)
class ExamStanding:
    """How somebody stands with the exam; `items` are those of `attempt`, in the order in which they are shown."""

    phase: ExamPhase
    attempt: Attempt | None
    items: Sequence[ExamItem] = ()


def standing(db: Database, person: Person, held: Exam) -> ExamStanding:
    """Where somebody is, from their newest attempt and what a lead decided last.

    Whoever passed an earlier exam of the project has passed; whoever began one that is not held any more, or waits for
    the key of one, begins anew. Of a calibration round nothing is known but whether it was finished.
    """
    if held.purpose is ExamPurpose.CALIBRATION:
        return _in_calibration(db, person, held)
    waiver, attempt = attempts.newest_waiver(db, person.annotator_id), attempts.newest(db, person.annotator_id)
    if waiver is not None and waiver.kind == "exempt":
        return ExamStanding(ExamPhase.EXEMPT, attempt)
    if attempt is None or not (attempt.held or (attempt.handed_in_at is not None and attempt.keyed)):
        return ExamStanding(ExamPhase.FIRST, attempt)
    if attempt.handed_in_at is not None and waiver is not None and waiver.after_attempt == attempt.number:
        return ExamStanding(ExamPhase.FIRST, attempt)
    there = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    if attempt.handed_in_at is None:
        return ExamStanding(_answering(there), attempt, there)
    if not attempt.keyed:
        return ExamStanding(ExamPhase.WAITING, attempt, there)
    if attempt.read_at is None:
        return ExamStanding(ExamPhase.RESULT, attempt, there)
    if any(to_look_at_again(item, attempt) and not item.blocked for item in there):
        return ExamStanding(ExamPhase.AGAIN, attempt, there)
    return ExamStanding(ExamPhase.PASSED if result(there, attempt).passed else ExamPhase.FAILED, attempt, there)


def _in_calibration(db: Database, person: Person, held: Exam) -> ExamStanding:
    attempt = attempts.newest(db, person.annotator_id, ExamPurpose.CALIBRATION)
    if attempt is None or attempt.exam_id != held.exam_id:
        return ExamStanding(ExamPhase.FIRST, attempt)
    there = in_order(exams.items(db, attempt.exam_id, attempt.attempt_id), attempt)
    return ExamStanding(ExamPhase.DONE if attempt.handed_in_at is not None else _answering(there), attempt, there)


def _answering(items: Sequence[ExamItem]) -> ExamPhase:
    left = any(item.own is None and not item.blocked for item in items)
    return ExamPhase.ANSWERING if left else ExamPhase.ANSWERED


def in_order(items: Sequence[ExamItem], attempt: Attempt) -> list[ExamItem]:
    """The order of one attempt: the items of a query together, both shuffled by a key that no browser is sent."""

    def position(of: str) -> bytes:
        return blake2b(f"{attempt.order_key}:{of}".encode(), digest_size=8).digest()

    return sorted(items, key=lambda item: (position(f"query {item.query_id}"), position(f"item {item.item_id}")))


def result(items: Sequence[ExamItem], attempt: Attempt) -> ExamResult:
    """What an attempt came to."""
    answers = [(item.own, item.right) for item in items if item.own is not None and item.right is not None]
    return mark(answers, attempt.most_missed, attempt.tolerance, attempt.rule_version)


def is_missed(item: ExamItem, attempt: Attempt) -> bool:
    """Whether the answer to an item misses its key."""
    return item.own is not None and item.right is not None and misses(item.own, item.right, attempt.tolerance)


def to_look_at_again(item: ExamItem, attempt: Attempt) -> bool:
    """Whether an item was missed, and has not been graded again within reach of its key."""
    still = item.again is None or item.right is None or misses(item.again, item.right, attempt.tolerance)
    return is_missed(item, attempt) and still
