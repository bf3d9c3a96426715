"""Exchange grades and skips with an annotator's browser for receipts and a fresh desk.

*Reads* accounts, pauses, the guideline, exams, gold, seats. *Writes* what the parts write: judgements by
`judging.grades`, skips and seats by `judging.queue`, answers by `qualification.exam.taking` and `qualification.gold`;
and desk_window.

A lead has a desk for one thing: to give the key of an exam whose key comes from a lead.
"""

from collections.abc import Sequence
from dataclasses import replace

from backend.campaign.judging import queue
from backend.campaign.judging.grades import previous, recent, record_grade
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
from backend.campaign.qualification.exam.taking import Act as ExamAct
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
    """Take what a browser hands in at a key press; return receipts and the fresh desk.

    Every event is committed by itself before the desk is filled, so that trouble with one never undoes another. What a
    window hands in counts, whichever window has the desk (see `Desk.elsewhere`).

    Args:
        project: the project.
        person: whose desk it is.
        grades: taken first.
        skipped: taken after them.
        now: seconds since 1970.
        shown: the pair whose clip is on screen.
        window: the name that the page gave itself.
        takes: from now on this window has the desk, and no other of this person's.

    Raises:
        NotAllowed: a lead, while no exam waits for a lead's key.
        StoreUnavailable: the database cannot be written; what has no receipt may be sent again.
    """
    require_desk(project, person)
    receipts = _take_grades(project, person, grades, now=now) + _take_skips(project, person, skipped, now=now)
    found = _desk(project, person, now=now, shown=shown)
    if _is_elsewhere(project, person, window, takes=takes, now=now):
        found = replace(found, elsewhere=True)
    return receipts, found


@signed_in
def desk(project: Project, person: Lead | Annotator, *, now: float) -> Desk[ExamDesk]:
    """Return what this person grades next: renew and claim seats, or the exam if it comes first, or nothing if paused.

    Raises:
        NotAllowed: a lead, while no exam waits for a lead's key.
    """
    require_desk(project, person)
    return _desk(project, person, now=now)


@signed_in
def record_grades(
    project: Project, person: Lead | Annotator, events: Sequence[GradeEvent], *, now: float
) -> list[Receipt]:
    """Record grades in the order of giving; return a receipt for each. Sending an event again changes nothing."""
    require_desk(project, person)
    return _take_grades(project, person, events, now=now)


@signed_in
def record_skips(
    project: Project, person: Lead | Annotator, events: Sequence[SkipEvent], *, now: float
) -> list[Receipt]:
    """Record skips with their reasons; return a receipt for each. Sending an event again changes nothing."""
    require_desk(project, person)
    return _take_skips(project, person, events, now=now)


@signed_in
def shown(project: Project, person: Lead | Annotator, pair: PairKey, *, now: float) -> None:
    """Note that the clip of a pair came on this person's screen: a grade that led to it can no longer be taken back.

    It changes nothing if they do not hold the pair (any more).
    """
    require_desk(project, person)
    if isinstance(person, Annotator):
        with writing(project.store) as db:
            seats.mark_shown(db, person.annotator_id, pair, now=now)


@signed_in
def exam_act(project: Project, person: Lead | Annotator, act: ExamAct, *, now: float) -> Desk[ExamDesk]:
    """Begin the exam, hand it in, or go on from its result; return the fresh desk.

    It changes nothing while they are paused, or at a wrong time.
    """
    require_desk(project, person)
    store = project.store
    if isinstance(person, Lead):
        exam.key_act(store, person, act, now=now)
        return _desk(project, person, now=now)
    with writing(store) as db:
        if not assignments.is_paused(db, person.annotator_id):
            found = exam.desk(store, person, now=now)
            purpose = found.exam.purpose if found and found.exam else ExamPurpose.EXAM
            exam.act(store, person, act, now=now, purpose=purpose)
    return _desk(project, person, now=now)


@annotator_only
def read_guideline(project: Project, annotator: Annotator, version: int, *, now: float) -> Desk[ExamDesk]:
    """Note that this annotator was shown a version of the guideline to its end; return the fresh desk.

    Raises:
        ProjectError: there is no such version.
    """
    versions.note_guideline_seen(project, annotator, version, now=now)
    return _desk(project, annotator, now=now)


@annotator_only
def recent_grades(project: Project, annotator: Annotator, *, now: float) -> list[DeskItem]:
    """Return this annotator's last grades that they may still change, the newest first; none before their work."""
    with reading(project.store) as db:
        if _before_work(project, db, annotator, now=now) is not None:
            return []
        return recent(project.store, annotator, now=now)


@annotator_only
def assigned_pairs(project: Project, annotator: Annotator) -> int | None:
    """Return how many pairs are assigned to this annotator, graded or not; None where no queries are."""
    with reading(project.store) as db:
        mine = assignments.standing(db, annotator.annotator_id)
        return assignments.pairs_of(db, mine) if mine is not None and mine.narrows else None


def require_desk(project: Project, person: Lead | Annotator) -> None:
    """Let annotators pass, and leads while the key of the exam is a lead's to give.

    Raises:
        NotAllowed: another lead.
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
        receipt = exam.hold_back(store, person, event, now=now)
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
    with writing(store) as db:  # one transaction: a person who is paused at this moment claims no pair after it
        before_work = _before_work(project, db, person, now=now)
        found = before_work or _work(project, db, person, now=now, shown=shown)
    with reading(store) as db:  # others may write again
        if before_work is None and found.state is not DeskState.PAUSED:
            found = replace(found, previous=previous(store, person, now=now))
        return replace(
            found, replies=judgements.unread_replies(db, person.annotator_id, final_before=now - CORRECTION_S)
        )


def _before_work(project: Project, db: Database, annotator: Annotator, *, now: float) -> Desk[ExamDesk] | None:
    """Return the desk of somebody who may judge no pair now: paused, the guideline to read, an exam; else None."""
    me = annotator.annotator_id
    gate = assignments.gate(db, me)
    if gate.paused or to_read(gate.seen, gate.version, tutorial=gate.tutorial) is not None:
        state = DeskState.PAUSED if gate.paused else DeskState.GUIDELINE
        return Desk(state, (), None, *judgements.counts(db, me, days.midnight(now)))
    return exam.desk(project.store, annotator, now=now) if gate.exam else None


def _work(project: Project, db: Database, annotator: Annotator, *, now: float, shown: PairKey | None) -> Desk[ExamDesk]:
    """Return the desk of somebody who may judge pairs, with gold questions mixed in if the campaign has any."""
    settings, lease_s = project_rows.gold(db), project.lease_s
    if settings.on:
        gold.offer(project.store, annotator, settings)
    found = queue.desk(db, annotator, project.secret, now=now, lease_s=lease_s, shown=shown)
    return gold.follow(project.store, annotator, found, settings, now=now) if settings.on else found


def _is_elsewhere(project: Project, person: Lead | Annotator, window: str, *, takes: bool, now: float) -> bool:
    """Whether another window of this person has the desk; the one that took it last has it.

    Windows may be of different browsers, on different computers, and talk to different front ends. A window without a
    name is never elsewhere.
    """
    if not window:
        return False
    holder = assignments.window_at_desk(project.store.db, person.annotator_id)
    if takes and holder != window:
        with writing(project.store) as db:
            assignments.take_desk(db, person.annotator_id, window, at=now)
    return not takes and holder not in (None, window)
