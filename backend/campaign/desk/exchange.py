"""Store the grades and skips that an annotator's browser sends, and return what the grading page shows next.

The content of the grading page, the pairs to grade next, is called the desk. Each grade or skip sent gets a receipt,
which says whether it was stored. Leads have a desk only while an exam needs its right answers from a lead.

*Reads* accounts, pauses, the guideline, exams, gold questions (hidden pairs with known grades), seats (annotators'
places at pairs). *Writes* through other modules: judgements by `judging.grades`, skips and seats by `judging.queue`,
answers by `qualification.exam.taking` and `qualification.gold`. Writes desk_window (each person's current browser
window) itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from backend.campaign.judging import filling, queue
from backend.campaign.judging.grades import GradeLook, recent_items, record_grade
from backend.campaign.judging.locks import locks
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
from backend.core.ids import PairKey
from backend.store.connection import Database, Select, Store, fetch, look, reading, sharing, writing


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
    """Store the grades and skips that a browser sends; return a receipt for each, and the next pairs to grade.

    Each grade or skip is committed separately, so an error in one never undoes another. They are accepted from any
    browser window, even if the person works in another one now (see `Desk.elsewhere`).

    Args:
        project: the project.
        person: the annotator, or a lead who gives the right answers of an exam.
        grades: stored first.
        skipped: stored after the grades.
        now: seconds since 1970.
        shown: the pair whose clip is on screen.
        window: a name that the browser window gave itself.
        takes: whether the person goes on working in this window, and no longer in others.

    Raises:
        NotAllowed: the person is a lead, and no exam needs answers from a lead.
        StoreUnavailable: the database cannot be written. Send everything without a receipt again.
    """
    require_desk(project, person)
    store, holder = project.store, assignments.window_select(person.annotator_id)
    looked = None
    if isinstance(person, Annotator):
        looked = _Look(person, grades[0] if grades else None)
        look(store, *looked.selects)
    receipts = _take_grades(project, person, grades, now=now, looked=looked)
    receipts += _take_skips(project, person, skipped, now=now)
    fresh_desk = None
    is_saved = len(receipts) == 1 and receipts[0].status is ReceiptStatus.SAVED
    if isinstance(person, Annotator) and looked is not None and grades and is_saved:
        fresh_desk = _desk_as_it_is(project, person, grades[0], looked, now=now, shown=shown, also=[holder])
    if fresh_desk is None:
        fresh_desk = _desk(project, person, now=now, shown=shown, looked=looked, also=[holder])
    if takes and window and holder.result != window:
        with writing(store) as db:
            assignments.take_desk(db, person.annotator_id, window, at=now)
    elif window and not takes and holder.result not in (None, window):
        fresh_desk = replace(fresh_desk, elsewhere=True)
    return receipts, fresh_desk


@signed_in
def desk(project: Project, person: Lead | Annotator, *, now: float) -> Desk[ExamDesk]:
    """Return what the grading page shows: the next pairs, an exam that comes first, or nothing during a pause.

    This reserves pairs for the person for a limited time, and extends the time of those reserved before.

    Raises:
        NotAllowed: the person is a lead, and no exam needs answers from a lead.
    """
    require_desk(project, person)
    return _desk(project, person, now=now)


@signed_in
def record_grades(
    project: Project, person: Lead | Annotator, events: Sequence[GradeEvent], *, now: float
) -> list[Receipt]:
    """Store grades in the order given, and return a receipt for each that says whether it was stored.

    Sending a grade again changes nothing.
    """
    require_desk(project, person)
    return _take_grades(project, person, events, now=now)


@signed_in
def record_skips(
    project: Project, person: Lead | Annotator, events: Sequence[SkipEvent], *, now: float
) -> list[Receipt]:
    """Store an annotator's skips of pairs, with the reasons; return for each a receipt that says whether it was stored.

    Sending a skip again changes nothing.
    """
    require_desk(project, person)
    return _take_skips(project, person, events, now=now)


@signed_in
def shown(project: Project, person: Lead | Annotator, pair: PairKey, *, now: float) -> None:
    """Record that the clip of a pair is on this person's screen.

    If the pair was given to them because others disagreed, those others can no longer change their grades. Nothing
    happens if the pair is not reserved for this person now.
    """
    require_desk(project, person)
    if isinstance(person, Annotator):
        me, store = person.annotator_id, project.store
        found = judgements.pair_by_key(store.db, pair)
        if found is not None:
            sharing(store, locks(me, [found.batch_id]), lambda db: seats.mark_shown(db, me, pair, now=now))


@signed_in
def exam_act(project: Project, person: Lead | Annotator, act: ExamAct, *, now: float) -> Desk[ExamDesk]:
    """Begin an exam, hand it in, or go on after its result, as `act` says; return what the grading page shows next.

    Nothing changes if the person is paused, or if `act` is not possible now.
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
    """Record that an annotator has read a version of the guideline to its end; return what the page shows next.

    Raises:
        ProjectError: there is no such version.
    """
    versions.note_guideline_seen(project, annotator, version, now=now)
    return _desk(project, annotator, now=now)


@annotator_only
def recent_grades(project: Project, annotator: Annotator, *, now: float) -> list[DeskItem]:
    """Return this annotator's recently graded pairs, newest first, with the grades, which the page lets them correct.

    The list is empty while they may not grade: during a pause, an exam, or with a guideline to read.
    """
    with reading(project.store) as db:
        gate = assignments.gate(db, annotator.annotator_id)
        if _before_work(project, db, annotator, gate, now=now) is not None:
            return []
        return recent_items(project.store, annotator, now=now)


@annotator_only
def assigned_pairs(project: Project, annotator: Annotator) -> int | None:
    """Return how many pairs are assigned to this annotator, graded or not; None if they may grade any pair."""
    with reading(project.store) as db:
        assignment = assignments.current_assignment(db, annotator.annotator_id)
        return assignments.pairs_of(db, assignment) if assignment is not None and assignment.narrows else None


def require_desk(project: Project, person: Lead | Annotator) -> None:
    """Check that a person may use the grading page: any annotator, or a lead while an exam needs answers from a lead.

    Raises:
        NotAllowed: the person is a lead, and no exam needs answers from a lead.
    """
    if isinstance(person, Lead) and not exam.key_is_leads(project.store):
        permissions.require_annotator(project.store, person)


class _Look:
    """What is read of an annotator's exchange before anything is locked, in one round trip."""

    def __init__(self, person: Annotator, first: GradeEvent | None = None) -> None:
        self.exam = assignments.exam_select()
        self.place = filling.Place(person.annotator_id)
        self.gold = project_rows.gold_select()
        self.grade = None
        if first is not None:
            self.grade = GradeLook(person.annotator_id, first.pair, self.place.assignment)

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        grade = self.grade.selects if self.grade is not None else ()
        return self.exam, *self.place.selects, self.gold, *grade


def _take_grades(
    project: Project,
    person: Lead | Annotator,
    events: Sequence[GradeEvent],
    *,
    now: float,
    looked: _Look | None = None,
) -> list[Receipt]:
    store = project.store
    if isinstance(person, Lead):
        return [exam.record_key(store, person, event, now=now) for event in events]
    receipts = []
    for event in events:
        if looked is None:
            looked = _Look(person, event)
            look(store, *looked.selects)
        receipts.append(_take_grade(store, person, event, looked, now=now))
        looked = None
    return receipts


def _take_grade(store: Store, person: Annotator, event: GradeEvent, looked: _Look, *, now: float) -> Receipt:
    receipt = exam.record_answer(store, person, event, now=now) if names_item(event.pair) else None
    if receipt is None and looked.exam.result:
        receipt = exam.refuse_before_exam(store, person, event, now=now)
    return receipt or record_grade(store, person, event, now=now, looked=looked.grade)


def _take_skips(
    project: Project, person: Lead | Annotator, events: Sequence[SkipEvent], *, now: float
) -> list[Receipt]:
    store = project.store
    if isinstance(person, Lead):
        return [Receipt(event.key, ReceiptStatus.REFUSED, exam.NO_SKIP) for event in events]
    return [exam.refuse_skip(store, event) or queue.record_skip(store, person, event, now=now) for event in events]


def _desk(
    project: Project,
    person: Lead | Annotator,
    *,
    now: float,
    shown: PairKey | None = None,
    looked: _Look | None = None,
    also: Sequence[Select[Any]] = (),
) -> Desk[ExamDesk]:
    """Return what the grading page shows, after the annotator's desk was filled.

    Args:
        project: the project.
        person: the user.
        now: seconds since 1970.
        shown: the pair whose clip is on the annotator's screen.
        looked: what was read before, if it was.
        also: SELECTs whose rows are fetched with the desk.
    """
    store = project.store
    if isinstance(person, Lead):
        look(store, *also)
        return exam.key_desk(store, person)
    filled = _fill(project, person, now=now, shown=shown, looked=looked)
    if isinstance(filled, Desk):
        replies = judgements.unread_select(person.annotator_id, final_before=now - CORRECTION_S)
        look(store, replies, *also)
        return replace(filled, replies=replies.result)
    view = _View(person, filled, now=now)
    look(store, *view.selects, *also)
    return view.desk(store, person, now=now)


def _desk_as_it_is(
    project: Project,
    person: Annotator,
    graded: GradeEvent,
    looked: _Look,
    *,
    now: float,
    shown: PairKey | None,
    also: Sequence[Select[Any]],
) -> Desk[ExamDesk] | None:
    """Return what the page shows after a grade was stored; None if the desk has to be filled (see `_desk`).

    So most grades need one transaction. What was read before the grade is read again with the desk, because it may have
    changed since.
    """
    me, pair = person.annotator_id, looked.grade.pair.result if looked.grade else None
    place, assignment = looked.place.batches.result, looked.place.assignment.result
    if pair is None or looked.exam.result or place.pairs <= filling.FEWEST:
        return None
    last = pair, graded.grade
    view = _View(person, filling.Filled(0, place.held, assignment, last), just_graded=True, now=now)
    gate, given = assignments.gate_select(me), assignments.assignment_select(me)
    newest = judgements.last_graded_select(me)
    look(project.store, gate, given, newest, *view.selects, *also)
    is_barred = gate.result.exam or _obstacle(gate.result) is not None
    has_changed = given.result != assignment or newest.result != last
    if is_barred or has_changed or view.pairs.needs_filling(shown, project.lease_s):
        return None
    return view.desk(project.store, person, now=now)


class _View:
    """What the page shows of an annotator's pairs, with replies of leads to their notes."""

    def __init__(self, person: Annotator, filled: filling.Filled, *, just_graded: bool = False, now: float) -> None:
        self.pairs = filling.DeskView(person, filled, just_graded=just_graded, now=now)
        self.settings = project_rows.gold_select()
        self._replies = judgements.unread_select(person.annotator_id, final_before=now - CORRECTION_S)

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        return *self.pairs.selects, self.settings, self._replies

    def desk(self, store: Store, person: Annotator, *, now: float) -> Desk[ExamDesk]:
        fresh_desk: Desk[ExamDesk] = self.pairs.desk(store)
        if self.settings.result.on:
            fresh_desk = gold.follow(store, person, fresh_desk, self.settings.result, now=now)
        return replace(fresh_desk, replies=self._replies.result)


def _fill(
    project: Project, person: Annotator, *, now: float, shown: PairKey | None, looked: _Look | None
) -> Desk[ExamDesk] | filling.Filled:
    """Reserve pairs for an annotator who may grade; return what the page shows to one who may not, as for a pause.

    A transaction takes pairs of one batch, which it has locked, and checks whether the person may work. Each notes
    which clip is on screen, because its pair may have to be taken again.
    """
    store, refill = project.store, None
    while True:
        if looked is None:
            looked = _Look(person)
            look(store, *looked.selects)
        if refill is None:
            refill = filling.Refill.at(looked.place)
        act = partial(_fill_once, project=project, person=person, refill=refill, now=now, shown=shown, looked=looked)
        filled = sharing(store, locks(person.annotator_id, refill.locks), act)
        if isinstance(filled, Desk):
            return filled
        if filled is None:
            looked = refill = None
        elif (following := filling.next_refill(store, person, filled, now=now)) in (None, refill):
            return filled  # full, or nothing could be had of the same batch a moment ago
        else:
            refill = following


def _fill_once(
    db: Database,
    *,
    project: Project,
    person: Annotator,
    refill: filling.Refill,
    now: float,
    shown: PairKey | None,
    looked: _Look,
) -> Desk[ExamDesk] | filling.Filled | None:
    """Fill a desk in one transaction; None if what was read before is no longer so."""
    me = person.annotator_id
    gate, settings = assignments.gate_select(me), project_rows.gold_select()
    facts, gold_at = filling.DeskFacts(person, refill, now=now, lease_s=project.lease_s), gold.next_select(me)
    if looked.gold.result.on:
        gold.withdraw_seen(db, me)
    fetch(db, gate, settings, *facts.selects, gold_at)
    before_work = _before_work(project, db, person, gate.result, now=now)
    if before_work is not None:
        return before_work
    if not facts.fits or settings.result != looked.gold.result:
        return None
    if settings.result.on and gold.is_due(gold_at.result, facts.claims.result):
        gold.offer(db, person, settings.result, gold_at.result, facts.claims.result)
        facts = filling.DeskFacts(person, refill, now=now, lease_s=project.lease_s)
        fetch(db, *facts.selects)
    return facts.fill(db, project.secret, gold=settings.result.on, shown=shown)


def _before_work(
    project: Project, db: Database, annotator: Annotator, gate: assignments.DeskGate, *, now: float
) -> Desk[ExamDesk] | None:
    """Return what the page shows to an annotator who may not grade pairs now; None if they may.

    They may not during a pause, with a guideline to read, or with an exam to take.
    """
    if (state := _obstacle(gate)) is not None:
        return Desk(state, (), None, *judgements.counts(db, annotator.annotator_id, now))
    return exam.desk(project.store, annotator, now=now) if gate.exam else None


def _obstacle(gate: assignments.DeskGate) -> DeskState | None:
    """Return the state of the desk of an annotator who may not grade pairs now, exams apart; None if they may."""
    if gate.paused:
        return DeskState.PAUSED
    return None if to_read(gate.seen, gate.version, tutorial=gate.tutorial) is None else DeskState.GUIDELINE
