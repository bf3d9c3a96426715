"""Give the exam or a calibration round to annotators, and take their answers.

Both come before any other pair, and no answer is a judgement. *Reads* exams, pairs. *Writes* exam, exam_item,
exam_attempt, exam_answer, events. Keys and explanations leave this module only for attempts that were handed in. A lead
uses it only to give the key of an exam, as blind as the annotators.
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
    is_missed,
    item_named,
    lay_out,
    result,
    standing,
)
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.setup.people.crediting import work_time
from backend.campaign.setup.project import rows as project_rows
from backend.core import days
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


class Act(StrEnum):
    """A step in the exam other than answering. A step that is repeated, or comes at the wrong time, has no effect."""

    START = "start"
    HAND_IN = "hand_in"
    GO_ON = "go_on"


def desk(store: Store, person: Annotator, *, now: float) -> Desk[ExamDesk] | None:
    """Return the person's desk in the calibration round, else in the exam; None if neither keeps them from work.

    They may work if no calibration round is open or they have finished it, and if no exam is held or they have passed
    it or are exempt. This claims no seat.
    """
    with reading(store) as db:
        for held in exams.before_work(db):
            found = standing(db, person, held)
            if found.phase not in NOTHING_BEFORE_WORK:
                today, in_all = judgements.counts(db, person.annotator_id, days.midnight(now))
                return lay_out(held, found, today, in_all)
    return None


def key_is_leads(store: Store) -> bool:
    """Return whether a lead gives the key of the current exam, so that leads have a desk for it."""
    held = exams.held(store.db)
    return held is not None and held.key_from is ExamKey.OWN


def key_desk(store: Store, lead: Lead) -> Desk[ExamDesk]:
    """Return the desk at which a lead gives the key of the current exam, as blind as the annotators.

    Raises:
        NotAllowed: there is no exam whose key a lead gives.
    """
    with reading(store) as db:
        held = _own_key(db)
        found = lay_out(held, _at_key(db, lead, held), 0, 0)
    return replace(found, exam=replace(found.exam, gives_key=True)) if found.exam else found


def act(store: Store, person: Annotator, what: Act, *, now: float, purpose: ExamPurpose = ExamPurpose.EXAM) -> None:
    """Start an attempt, hand it in, or leave its result."""
    with writing(store) as db:
        held = exams.held(db, purpose)
        if held is None:
            return
        found = standing(db, person, held)
        attempt = found.attempt
        if what is Act.START:
            _begin(db, person, held, found, now)
        elif attempt is None:
            return
        elif what is Act.HAND_IN and found.phase is ExamPhase.ANSWERED:
            attempts.hand_in(db, attempt.attempt_id, at=now)
            payload: dict[str, object] = {"exam": attempt.exam_id, "number": attempt.number}
            payload["answers"] = sum(item.own is not None for item in found.items)
            if attempt.keyed:
                came_to = result(found.items, attempt)
                payload |= {"answers": came_to.answers, "missed": came_to.missed, "passed": came_to.passed}
            _tell(db, EXAM_HANDED_IN, person, now, payload)
        elif what is Act.GO_ON and found.phase is ExamPhase.RESULT:
            attempts.note_read(db, attempt.attempt_id, at=now)


def key_act(store: Store, lead: Lead, what: Act, *, now: float) -> None:
    """Start the key of the current exam, or hand it in. The first lead to hand in gives the key.

    A key with which guessing passes the exam waits until a lead closes the round with a reason.

    Raises:
        NotAllowed: there is no exam whose key a lead gives.
    """
    with writing(store) as db:
        held = _own_key(db)
        found = _at_key(db, lead, held)
        if what is Act.START:
            _begin(db, lead, held, found, now)
        elif what is Act.HAND_IN and found.phase is ExamPhase.ANSWERED and found.attempt is not None:
            attempts.hand_in(db, found.attempt.attempt_id, at=now)
            answer_key.take_own(db, held, lead, now=now)


def _own_key(db: Database) -> Exam:
    held = exams.held(db)
    if held is None or held.key_from is not ExamKey.OWN:
        raise NotAllowed(said("leads do not grade, so that their decisions stay independent: sign in as an annotator"))
    return held


def _at_key(db: Database, lead: Lead, held: Exam) -> ExamStanding:
    return ExamStanding(ExamPhase.KEY, None) if held.closed_at is not None else standing(db, lead, held)


def _begin(db: Database, person: Person, held: Exam, found: ExamStanding, now: float) -> None:
    if found.phase is ExamPhase.FIRST and held.showable:
        number = found.attempt.number + 1 if found.attempt else 1
        items = retaking.add_items(db, person, held, number, now=now)
        attempts.begin(db, held.exam_id, person.annotator_id, number, items, at=now)
        _tell(db, EXAM_STARTED, person, now, {"exam": held.exam_id, "number": number})


def record_answer(store: Store, person: Annotator | Lead, event: GradeEvent, *, now: float) -> Receipt | None:
    """Store an answer to an item of the exam; None if the graded pair is no such item.

    Sending the same event again changes nothing. Until the attempt is handed in, a later answer replaces an earlier
    one. Afterwards only missed items can be answered again, which does not change the result.
    """
    with writing(store) as db:
        found = item_named(db, event.pair)
        if found is None:
            return None
        attempt, item, again = found

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
            attempts.note(db, attempt.attempt_id, item.item_id, note)  # nobody would read one of an exam
    return Receipt(event.key, ReceiptStatus.SAVED)


def record_key(store: Store, lead: Lead, event: GradeEvent, *, now: float) -> Receipt:
    """Store a lead's grade of an item whose key they give; refuse any other grade."""
    return record_answer(store, lead, event, now=now) or Receipt(event.key, ReceiptStatus.REFUSED, ONLY_THE_KEY)


def hold_back(store: Store, person: Annotator, event: GradeEvent, *, now: float) -> Receipt | None:
    """Refuse a grade from an annotator who has to pass the exam first; None if the grade may be taken.

    A person who held the pair before the exam was set may still grade it. A refused grade is kept in the log.
    """
    held = exams.held(store.db)
    if held is None:
        return None
    with reading(store) as db:
        pair = judgements.pair_by_key(db, event.pair)
        if pair is None or seats.seat_of(db, pair.pair_id, person.annotator_id) is not None:
            return None
        if standing(db, person, held).phase in NOTHING_BEFORE_WORK:
            return None
    grading.refuse(store, person, pair, event, EXAM_FIRST, now=now)
    return Receipt(event.key, ReceiptStatus.REFUSED, EXAM_FIRST)


def refuse_skip(store: Store, event: SkipEvent) -> Receipt | None:
    """Refuse to skip an item of an exam; None if the skipped pair is no such item."""
    if not names_item(event.pair):
        return None
    with reading(store) as db:
        found = item_named(db, event.pair)
    return Receipt(event.key, ReceiptStatus.REFUSED, NO_SKIP) if found else None


def pair_behind(store: Store, person: Person, key: PairKey) -> PairRow | None:
    """Return the pair behind an item that a person's exam or calibration round shows now; None if it shows none.

    While they answer, it shows all items. Afterwards it shows those that they missed, until they have looked at all of
    them again.
    """
    if not names_item(key):
        return None
    with reading(store) as db:
        found = item_named(db, key)
        if found is None or found[0].annotator_id != person.annotator_id:
            return None
        attempt, item, again = found
        phases = [
            there.phase
            for there in (standing(db, person, held) for held in exams.before_work(db))
            if there.attempt is not None and there.attempt.attempt_id == attempt.attempt_id
        ]
        on_show = ExamPhase.AGAIN in phases and is_missed(item, attempt) if again else set(phases) & ANSWERED_NOW
        return judgements.pair_by_key(db, item.pair_key) if on_show else None


def _tell(db: Database, event: Event, person: Person, now: float, payload: Mapping[str, object]) -> None:
    me = person.annotator_id
    events.record(db, event, at=now, actor=me, subject=f"annotator:{me}", payload=payload)
