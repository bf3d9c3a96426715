"""Give the exam or a calibration round to annotators, and store their answers.

An open calibration round, and then the exam, come before any work. No answer is a judgement (stored grade). *Reads*
exams, pairs. *Writes* exam, exam_item, exam_attempt, exam_answer, events. Annotators see right grades and explanations
only of attempts that they have handed in. A lead uses this module only to give the answer key of an exam, and sees no
more than the annotators.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from backend.campaign.judging import grades as grading
from backend.campaign.judging.model import Desk, GradeEvent, Receipt, ReceiptStatus, SkipEvent
from backend.campaign.judging.rows import assignments, judgements, seats
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.judging.rules import names_item
from backend.campaign.nouns import Annotator, Lead, Person
from backend.campaign.qualification.exam import answer_key, retaking
from backend.campaign.qualification.exam.model import (
    EXAM_HANDED_IN,
    EXAM_STARTED,
    Exam,
    ExamDesk,
    ExamKey,
    ExamPhase,
    ExamPurpose,
)
from backend.campaign.qualification.exam.results import (
    ExamStanding,
    build_desk,
    find_item,
    is_missed,
    result,
    standing,
)
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.setup.people.crediting import work_time
from backend.campaign.setup.project import rows as project_rows
from backend.core.errors import NotAllowed
from backend.core.events import Event
from backend.core.ids import PairKey
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

NO_SKIP = said("exam items cannot be skipped: give the grade that fits best")
HANDED_IN = said("you have handed in this exam, so its answers are final")
REPLACED = said("this exam has ended, so the answer does not count")
EXAM_FIRST = said("take the exam first: this grade is kept in the log but does not count")
ONLY_THE_KEY = said("leads grade only the answer key of the exam, so that their decisions stay independent")
KEY_IS_THERE = said("this exam already has its answer key")
PAUSED = said("your work is paused, so this answer does not count")
USED = said("this key press was already stored for another item: grade the item again")

NOTHING_BEFORE_WORK = (ExamPhase.PASSED, ExamPhase.EXEMPT, ExamPhase.DONE)
"""Phases in which people may judge."""

ANSWERED_NOW = {ExamPhase.ANSWERING, ExamPhase.ANSWERED}
"""Phases in which the items of an attempt are shown and can be answered."""


class ExamStep(StrEnum):
    """A step of a person in an exam: start an attempt, hand it in, or leave its result (`go_on`).

    A repeated step, or one at the wrong time, has no effect.
    """

    START = "start"
    HAND_IN = "hand_in"
    GO_ON = "go_on"


def desk(store: Store, person: Annotator, *, now: float) -> Desk[ExamDesk] | None:
    """Return what an annotator's grading page shows of the calibration round or exam; None if they may work.

    An open calibration round keeps annotators from work until they have finished it, and an exam until they have passed
    it or are exempt. This call reserves no pair for the annotator.
    """
    with reading(store) as db:
        for exam in exams.before_work(db):
            status = standing(db, person, exam)
            if status.phase not in NOTHING_BEFORE_WORK:
                today, in_all = judgements.counts(db, person.annotator_id, now)
                return build_desk(exam, status, today, in_all)
    return None


def key_is_leads(store: Store) -> bool:
    """Return whether a lead's own grades are the answer key of the current exam, so that leads have a grading page."""
    exam = exams.open_exam(store.db)
    return exam is not None and exam.key_from is ExamKey.OWN


def key_desk(store: Store, lead: Lead) -> Desk[ExamDesk]:
    """Return what the grading page shows to a lead who gives the answer key of the current exam.

    The lead sees no more than the annotators.

    Raises:
        NotAllowed: there is no exam whose answer key is a lead's own grades.
    """
    with reading(store) as db:
        exam = _exam_with_leads_key(db)
        lead_desk = build_desk(exam, _key_standing(db, lead, exam), 0, 0)
    return replace(lead_desk, exam=replace(lead_desk.exam, gives_key=True)) if lead_desk.exam else lead_desk


def take_step(
    store: Store, person: Annotator, step: ExamStep, *, now: float, purpose: ExamPurpose = ExamPurpose.EXAM
) -> None:
    """Start an annotator's attempt, hand it in, or record that they have read its result.

    Nothing happens if there is no exam or calibration round (`purpose`), or the step does not fit the person's
    progress.
    """
    with writing(store) as db:
        exam = exams.open_exam(db, purpose)
        if exam is None:
            return
        status = standing(db, person, exam)
        attempt = status.attempt
        if step is ExamStep.START:
            _begin(db, person, exam, status, now)
        elif attempt is None:
            return
        elif step is ExamStep.HAND_IN and status.phase is ExamPhase.ANSWERED:
            attempts.hand_in(db, attempt.attempt_id, at=now)
            payload: dict[str, object] = {"exam": attempt.exam_id, "number": attempt.number}
            payload["answers"] = sum(item.own is not None for item in status.items)
            if attempt.keyed:
                exam_result = result(status.items, attempt)
                payload |= {"answers": exam_result.answers, "missed": exam_result.missed, "passed": exam_result.passed}
            _tell(db, EXAM_HANDED_IN, person, now, payload)
        elif step is ExamStep.GO_ON and status.phase is ExamPhase.RESULT:
            attempts.note_read(db, attempt.attempt_id, at=now)


def take_key_step(store: Store, lead: Lead, step: ExamStep, *, now: float) -> None:
    """Start a lead's attempt to give the answer key of the current exam, or hand it in.

    The first lead who hands in gives the key. If guessing would pass the exam with it, the key is stored only when a
    lead confirms it with a reason (`close_exam_round`).

    Raises:
        NotAllowed: there is no exam whose answer key is a lead's own grades.
    """
    with writing(store) as db:
        exam = _exam_with_leads_key(db)
        status = _key_standing(db, lead, exam)
        if step is ExamStep.START:
            _begin(db, lead, exam, status, now)
        elif step is ExamStep.HAND_IN and status.phase is ExamPhase.ANSWERED and status.attempt is not None:
            attempts.hand_in(db, status.attempt.attempt_id, at=now)
            answer_key.fix_leads_key(db, exam, lead, now=now)


def _exam_with_leads_key(db: Database) -> Exam:
    exam = exams.open_exam(db)
    if exam is None or exam.key_from is not ExamKey.OWN:
        raise NotAllowed(said("leads do not grade, so that their decisions stay independent: sign in as an annotator"))
    return exam


def _key_standing(db: Database, lead: Lead, exam: Exam) -> ExamStanding:
    return ExamStanding(ExamPhase.KEY, None) if exam.closed_at is not None else standing(db, lead, exam)


def _begin(db: Database, person: Person, exam: Exam, status: ExamStanding, now: float) -> None:
    if status.phase is ExamPhase.FIRST and exam.showable:
        number = status.attempt.number + 1 if status.attempt else 1
        items = retaking.add_items(db, person, exam, number, now=now)
        attempts.begin(db, exam.exam_id, person.annotator_id, number, items, at=now)
        _tell(db, EXAM_STARTED, person, now, {"exam": exam.exam_id, "number": number})


def record_answer(store: Store, person: Annotator | Lead, event: GradeEvent, *, now: float) -> Receipt | None:
    """Store an answer to an exam item, and return whether it was saved; None if the graded pair is no exam item.

    Sending the same event again changes nothing. Until the attempt is handed in, a later answer replaces an earlier
    one. Afterwards only missed items can be answered again, which does not change the result.
    """
    with writing(store) as db:
        named_item = find_item(db, event.pair)
        if named_item is None:
            return None
        attempt, item, again = named_item

        def refused(why: str) -> Receipt:
            return Receipt(event.key, ReceiptStatus.REFUSED, why)

        if attempt.annotator_id != person.annotator_id:
            return refused(said("this is an item of somebody else's exam"))
        scale = project_rows.scale(db)
        if event.grade not in scale:
            return refused(said("{grade} is not a grade: grades are {words}", grade=event.grade, words=scale.words))
        owner = attempts.answer_owner(db, event.key)
        if owner == (attempt.attempt_id, item.item_id):
            return Receipt(event.key, ReceiptStatus.SAVED)
        if owner is not None:
            return refused(USED)
        if assignments.is_paused(db, person.annotator_id):
            return refused(PAUSED)
        if attempt.handed_in_at is None and not attempt.held:
            return refused(REPLACED)
        if isinstance(person, Lead) and attempt.keyed:
            return refused(KEY_IS_THERE)
        if (attempt.handed_in_at is not None) != again or (again and not is_missed(item, attempt)):
            return refused(HANDED_IN)
        attempts.answer(
            db,
            attempt.attempt_id,
            item.item_id,
            event.grade,
            again=again,
            at=now,
            active_ms=work_time(
                *(db, attempt.annotator_id, event.active_ms, event.elapsed_ms), since=attempt.started_at, now=now
            ).active_ms,
            event_key=event.key,
        )
        note = None if event.note is None else grading.tidy(event.note)
        if attempt.purpose is ExamPurpose.CALIBRATION and note is not None and note != item.note:
            attempts.note(db, attempt.attempt_id, item.item_id, note)  # nobody reads notes in an exam
    return Receipt(event.key, ReceiptStatus.SAVED)


def record_key(store: Store, lead: Lead, event: GradeEvent, *, now: float) -> Receipt:
    """Store a lead's grade of an exam item for the answer key; refuse a grade of anything else."""
    return record_answer(store, lead, event, now=now) or Receipt(event.key, ReceiptStatus.REFUSED, ONLY_THE_KEY)


def refuse_before_exam(store: Store, person: Annotator, event: GradeEvent, *, now: float) -> Receipt | None:
    """Refuse a grade from an annotator who has to pass the exam first. Return None if the grade may be stored.

    A person to whom the pair was handed out before the exam was set may still grade it. A refused grade is kept in the
    log.
    """
    exam = exams.open_exam(store.db)
    if exam is None:
        return None
    with reading(store) as db:
        pair = judgements.pair_by_key(db, event.pair)
        if pair is None or seats.seat_of(db, pair.pair_id, person.annotator_id) is not None:
            return None
        if standing(db, person, exam).phase in NOTHING_BEFORE_WORK:
            return None
    with writing(store) as db:
        grading.refuse(db, person, pair, event, EXAM_FIRST, now=now)
    return Receipt(event.key, ReceiptStatus.REFUSED, EXAM_FIRST)


def refuse_skip(store: Store, event: SkipEvent) -> Receipt | None:
    """Refuse to skip an exam item. Return None if the skipped pair is no exam item."""
    if not names_item(event.pair):
        return None
    with reading(store) as db:
        named_item = find_item(db, event.pair)
    return Receipt(event.key, ReceiptStatus.REFUSED, NO_SKIP) if named_item else None


def pair_of_item(store: Store, person: Person, key: PairKey) -> PairRow | None:
    """Return the pair behind an exam item in a person's browser; None if they may not see the item now.

    During an attempt, they may see all its items. Afterwards they may see the items that they missed, until they have
    graded all of these again.
    """
    if not names_item(key):
        return None
    with reading(store) as db:
        named_item = find_item(db, key)
        if named_item is None or named_item[0].annotator_id != person.annotator_id:
            return None
        attempt, item, again = named_item
        phases = [
            status.phase
            for status in (standing(db, person, exam) for exam in exams.before_work(db))
            if status.attempt is not None and status.attempt.attempt_id == attempt.attempt_id
        ]
        on_show = ExamPhase.AGAIN in phases and is_missed(item, attempt) if again else set(phases) & ANSWERED_NOW
        return judgements.pair_by_key(db, item.pair_key) if on_show else None


def _tell(db: Database, event: Event, person: Person, now: float, payload: Mapping[str, object]) -> None:
    me = person.annotator_id
    events.record(db, event, at=now, actor=me, subject=f"annotator:{me}", payload=payload)
