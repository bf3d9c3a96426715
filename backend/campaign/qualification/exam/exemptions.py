"""Let annotators retake the exam, or judge without having passed it.

*Reads* exams, attempts, annotator. *Writes* exam_ruling, events.
"""

from collections.abc import Mapping

from backend.campaign.nouns import Lead, Operator, Person, Role
from backend.campaign.qualification.exam import planning
from backend.campaign.qualification.exam.model import Exam, ExamPhase
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.standing import standing
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, writing
from backend.store.events import EventKind


@permissions.in_charge
def grant_retake(project: Project, by: Lead | Operator, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let an annotator take the exam that is held once more; it also takes an exemption back.

    Raises:
        ProjectError: no such annotator, or they can take it as it is.
    """
    with writing(project.store) as db:
        held, person = _person(db, annotator_id)
        found = standing(db, person, held)
        if found.phase in (ExamPhase.FIRST, ExamPhase.ANSWERING, ExamPhase.ANSWERED):
            raise ProjectError(said("{name} may take the exam already", name=person.name))
        if found.phase is ExamPhase.WAITING:
            raise ProjectError(
                said("{name} has handed in and waits for the key: close the round first", name=person.name)
            )
        after = found.attempt.number if found.attempt else 0
        attempts.add_waiver(db, annotator_id, "retake", "", by=by.annotator_id, after_attempt=after, at=now)
        _tell(db, EventKind.EXAM_RETAKE, by, f"annotator:{annotator_id}", {"after_attempt": after}, now)


@permissions.in_charge
def exempt_from_exam(
    project: Project, by: Lead | Operator, annotator_id: AnnotatorId, reason: str, *, now: float
) -> None:
    """Let an annotator judge without having passed, for a reason.

    Raises:
        ProjectError: no such annotator, or no reason.
    """
    reason = planning.written(reason)
    if not reason:
        raise ProjectError(said("an exemption needs a reason: write one sentence about why"))
    with writing(project.store) as db:
        _, person = _person(db, annotator_id)
        exempt(db, by, person.annotator_id, reason, now=now)


def exempt(db: Database, by: Lead | Operator, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    """Store an exemption: nobody checks the reason here."""
    attempt = attempts.newest(db, annotator_id)
    after = attempt.number if attempt else 0
    attempts.add_waiver(db, annotator_id, "exempt", reason, by=by.annotator_id, after_attempt=after, at=now)
    _tell(db, EventKind.EXAM_EXEMPTED, by, f"annotator:{annotator_id}", {"reason": reason}, now)


def _person(db: Database, annotator_id: AnnotatorId) -> tuple[Exam, Person]:
    held, person = exams.held(db), people.by_id(db, annotator_id)
    if held is None:
        raise ProjectError(said("this project has no exam just now"))
    if person is None or person.role is not Role.ANNOTATOR:
        raise ProjectError(said("only annotators take the exam: reload the page"))
    return held, person


def _tell(
    db: Database, kind: EventKind, by: Lead | Operator, subject: str, payload: Mapping[str, object], now: float
) -> None:
    events.record(db, kind, at=now, actor=by.annotator_id, subject=subject, payload=payload)
