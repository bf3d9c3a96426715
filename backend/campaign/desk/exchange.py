"""Record the grades and skips from an annotator's browser; return receipts and a fresh desk, the pairs to grade next.

*Reads* accounts, pauses, the guideline, exams, gold, seats. *Writes* through other modules: judgements by
`judging.grades`, skips and seats by `judging.queue`, answers by `qualification.exam.taking` and `qualification.gold`.
Writes desk_window itself.

A lead has a desk only while an exam needs its answer key from a lead.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.campaign.judging import queue
from backend.campaign.judging.grades import previous_item, recent_items, record_grade
from backend.campaign.judging.model import (
    CORRECTION_S,
    Desk,
    DeskItem,
    DeskState,
    GradeEvent,
    Receipt,
    ReceiptStatus,
    SkipEvent,
)
from backend.campaign.judging.rows import assignments, judgements, seats
from backend.campaign.judging.rules import names_item
from backend.campaign.nouns import Annotator, Lead
from backend.campaign.qualification.exam import taking as exam
from backend.campaign.qualification.exam.model import ExamDesk, ExamPurpose
from backend.campaign.qualification.exam.taking import ExamStep as ExamAct
from backend.campaign.qualification.gold import questions as gold
from backend.campaign.qualification.guideline import versions
from backend.campaign.qualification.guideline.rules import to_read
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people.permissions import annotator_only, signed_in
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core import days
from backend.core.ids import PairKey
from backend.store.connection import Database, Store, reading, writing


@signed_in
def exchange(
    project: Project,
    person: Lead | Annotator,
    grades: Sequence[GradeEvent],
    skipped: Sequence[SkipEvent],
    *,
    now: float,
    shown: PairKey | None = None,
    window: str = "",
    takes: bool = False,
) -> tuple[list[Receipt], Desk[ExamDesk]]:
    """Record the grades and skips that a browser sends at a key press; return their receipts and the fresh desk.

    Every event is committed by itself before the desk is filled, so an error in one never undoes another. Events count
    whichever window they come from, even if another window has the desk (see `Desk.elsewhere`).

    Args:
        project: the project.
        person: the owner of the desk.
        grades: recorded first.
        skipped: recorded after the grades.
        now: seconds since 1970.
        shown: the pair whose clip is on screen.
        window: the name that the page gave itself.
        takes: whether this window takes the desk from the person's other windows.

    Raises:
        NotAllowed: the person is a lead, and no exam needs a key from a lead.
        StoreUnavailable: the database cannot be written; send events without a receipt again.
    """
    require_desk(project, person)
    receipts = _take_grades(project, person, grades, now=now) + _take_skips(project, person, skipped, now=now)
    fresh_desk = _desk(project, person, now=now, shown=shown)
    if _is_elsewhere(project, person, window, takes=takes, now=now):
        fresh_desk = replace(fresh_desk, elsewhere=True)
    return receipts, fresh_desk


@signed_in
def desk(project: Project, person: Lead | Annotator, *, now: float) -> Desk[ExamDesk]:
    """Return this person's desk: the pairs to grade next, the exam if it comes first, or nothing while they are paused.

    This renews the person's seats and claims more.

    Raises:
        NotAllowed: the person is a lead, and no exam needs a key from a lead.
    """
    require_desk(project, person)
    return _desk(project, person, now=now)


@signed_in
def record_grades(
    project: Project, person: Lead | Annotator, events: Sequence[GradeEvent], *, now: float
) -> list[Receipt]:
    """Record grades in their order and return a receipt for each; sending an event again changes nothing."""
    require_desk(project, person)
    return _take_grades(project, person, events, now=now)


@signed_in
def record_skips(
    project: Project, person: Lead | Annotator, events: Sequence[SkipEvent], *, now: float
) -> list[Receipt]:
    """Record skips with their reasons and return a receipt for each; sending an event again changes nothing."""
    require_desk(project, person)
    return _take_skips(project, person, events, now=now)


@signed_in
def shown(project: Project, person: Lead | Annotator, pair: PairKey, *, now: float) -> None:
    """Record that the clip of a pair is on this person's screen.

    From then on, the grades that led to the pair's escalation can no longer be changed. Nothing happens if the person
    does not hold the pair (any more).
    """
    require_desk(project, person)
    if isinstance(person, Annotator):
        with writing(project.store) as db:
            seats.mark_shown(db, person.annotator_id, pair, now=now)


@signed_in
def exam_act(project: Project, person: Lead | Annotator, act: ExamAct, *, now: float) -> Desk[ExamDesk]:
    """Begin the exam, hand it in, or continue after its result; return the fresh desk.

    Nothing changes while the person is paused, or if the step is not possible now.
    """
    require_desk(project, person)
    store = project.store
    if isinstance(person, Lead):
        exam.take_key_step(store, person, act, now=now)
        return _desk(project, person, now=now)
    with writing(store) as db:
        if not assignments.is_paused(db, person.annotator_id):
            exam_desk = exam.desk(store, person, now=now)
            purpose = exam_desk.exam.purpose if exam_desk and exam_desk.exam else ExamPurpose.EXAM
            exam.take_step(store, person, act, now=now, purpose=purpose)
    return _desk(project, person, now=now)


@annotator_only
def read_guideline(project: Project, annotator: Annotator, version: int, *, now: float) -> Desk[ExamDesk]:
    """Record that this annotator has read a version of the guideline to its end; return the fresh desk.

    Raises:
        ProjectError: there is no such version.
    """
    versions.note_guideline_seen(project, annotator, version, now=now)
    return _desk(project, annotator, now=now)


@annotator_only
def recent_grades(project: Project, annotator: Annotator, *, now: float) -> list[DeskItem]:
    """Return this annotator's recent grades for correction, newest first; none while they may not judge."""
    with reading(project.store) as db:
        if _before_work(project, db, annotator, now=now) is not None:
            return []
        return recent_items(project.store, annotator, now=now)


@annotator_only
def assigned_pairs(project: Project, annotator: Annotator) -> int | None:
    """Return how many pairs are assigned to this annotator, graded or not; None if they may grade any query."""
    with reading(project.store) as db:
        assignment = assignments.current_assignment(db, annotator.annotator_id)
        return assignments.pairs_of(db, assignment) if assignment is not None and assignment.narrows else None


def require_desk(project: Project, person: Lead | Annotator) -> None:
    """Allow annotators, and allow leads while an exam needs a key from a lead.

    Raises:
        NotAllowed: the person is a lead, and no exam needs a key from a lead.
    """
    if isinstance(person, Lead) and not exam.key_is_leads(project.store):
        permissions.require_annotator(project.store, person)


def _take_grades(
    project: Project, person: Lead | Annotator, events: Sequence[GradeEvent], *, now: float
) -> list[Receipt]:
    store = project.store
    if isinstance(person, Lead):
        return [exam.record_key(store, person, event, now=now) for event in events]
    return [_take_grade(store, person, event, now=now) for event in events]


def _take_grade(store: Store, person: Annotator, event: GradeEvent, *, now: float) -> Receipt:
    receipt = exam.record_answer(store, person, event, now=now) if names_item(event.pair) else None
    if receipt is None and assignments.is_exam_held(store.db):
        receipt = exam.refuse_before_exam(store, person, event, now=now)
    return receipt or record_grade(store, person, event, now=now)


def _take_skips(
    project: Project, person: Lead | Annotator, events: Sequence[SkipEvent], *, now: float
) -> list[Receipt]:
    store = project.store
    if isinstance(person, Lead):
        return [Receipt(event.key, ReceiptStatus.REFUSED, exam.NO_SKIP) for event in events]
    return [exam.refuse_skip(store, event) or queue.record_skip(store, person, event, now=now) for event in events]


def _desk(project: Project, person: Lead | Annotator, *, now: float, shown: PairKey | None = None) -> Desk[ExamDesk]:
    store = project.store
    if isinstance(person, Lead):
        return exam.key_desk(store, person)
    with writing(store) as db:  # one transaction, so that a person who is being paused claims no pair
        before_work = _before_work(project, db, person, now=now)
        filled = before_work or _work(project, db, person, now=now, shown=shown)
    with reading(store) as db:  # lets others write again
        if before_work is None and filled.state is not DeskState.PAUSED:
            filled = replace(filled, previous=previous_item(store, person, now=now))
        return replace(
            filled, replies=judgements.unread_replies(db, person.annotator_id, final_before=now - CORRECTION_S)
        )


def _before_work(project: Project, db: Database, annotator: Annotator, *, now: float) -> Desk[ExamDesk] | None:
    """Return the desk of a person who may not judge now (pause, guideline to read, exam); None if they may."""
    me = annotator.annotator_id
    gate = assignments.gate(db, me)
    if gate.paused or to_read(gate.seen, gate.version, tutorial=gate.tutorial) is not None:
        state = DeskState.PAUSED if gate.paused else DeskState.GUIDELINE
        return Desk(state, (), None, *judgements.counts(db, me, days.midnight(now)))
    return exam.desk(project.store, annotator, now=now) if gate.exam else None


def _work(project: Project, db: Database, annotator: Annotator, *, now: float, shown: PairKey | None) -> Desk[ExamDesk]:
    """Return the desk of a person who may judge pairs, with gold questions mixed in if the campaign has any."""
    settings, lease_s = project_rows.gold(db), project.lease_s
    if settings.on:
        gold.offer(project.store, annotator, settings)
    filled = queue.desk(db, annotator, project.secret, now=now, lease_s=lease_s, shown=shown)
    return gold.follow(project.store, annotator, filled, settings, now=now) if settings.on else filled


def _is_elsewhere(project: Project, person: Lead | Annotator, window: str, *, takes: bool, now: float) -> bool:
    """Return whether the desk belongs to another window of this person: to the window that took it last.

    The windows may belong to different browsers and computers, and talk to different front ends. For a window without
    a name the answer is False.
    """
    if not window:
        return False
    holder = assignments.window_at_desk(project.store.db, person.annotator_id)
    if takes and holder != window:
        with writing(project.store) as db:
            assignments.take_desk(db, person.annotator_id, window, at=now)
    return not takes and holder not in (None, window)
