"""Store a grade or a correction of one, with the verdict on its pair that follows.

A seat is a place for one annotator at a pair. Only the annotator who has a seat may grade the pair; knowing the pair's
key is not enough. They must not be paused. The grade must be within their quota and their assignment, the queries that
a lead gave them. Seats are reserved for a limited time. After that, a seat still belongs to its holder until somebody
else takes it, so a grade that was given offline can still be accepted.

*Reads* seats, pauses, assignments, decisions of leads. *Writes* judgements (grades), notes, seats, consensus
(verdicts), events. See `backend.campaign.judging.verdicts` for the verdict.
"""

from functools import partial
from typing import Any

from backend.campaign.judging.locks import locks
from backend.campaign.judging.model import (
    CORRECTION_S,
    GRADE_REFUSED,
    Assignment,
    DeskItem,
    GradeEvent,
    Receipt,
    ReceiptStatus,
)
from backend.campaign.judging.rows import assignments, judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import CurrentGrade, PairRow
from backend.campaign.judging.rows.pair_status import GoneOn
from backend.campaign.judging.rows.seats import Seat
from backend.campaign.judging.verdicts import PairStatus, settle_by
from backend.campaign.nouns import FROM_EXAM, Annotator, Verdict
from backend.campaign.setup.people import rows as people_rows
from backend.campaign.setup.people.crediting import WorkTime, clamp_count, credit_from, limit_since, work_time
from backend.campaign.setup.project import rows as project_rows
from backend.core import days, typed_text
from backend.core.errors import PairLocked, ReelRankError, SeatUnavailable
from backend.core.ids import AnnotatorId, PairId, PairKey
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Select, Store, fetch, fetch_one, look, reading, sharing

LONGEST_NOTE = 300
RECENT = 20
"""The most grades that are listed for correction."""
GONE = said("this pair is not on your desk any more; your grade is kept in the log but does not count")
PAUSED = said("your work is paused; your grade is kept in the log but does not count")
QUOTA = said(
    "you have reached the number of grades that your lead set; this grade is kept in the log but does not count"
)
NOT_ASSIGNED = said("this pair is not assigned to you any more; your grade is kept in the log but does not count")
SET_ASIDE = said("this pair is now part of an exam; your grade is kept in the log but does not count")
KNOWN = said(
    "you graded this pair in an exam, so others grade it now; your grade is kept in the log but does not count"
)
IN_EXAM = said("it was graded in an exam, and answers there are final")
EARLIER_CAMPAIGN = said("it was graded in an earlier campaign, which is closed")
DECIDED = said("a lead has decided this pair, so your earlier grade stays")
LOOKED_AT = said(
    "the work on this pair has gone on, so your grade stays"
)  # without the reason, so that nobody learns that a pair was re-opened
TOO_LATE = said(
    "a grade can be changed for {minutes:.0f} minutes; yours is older, so it stays",
    minutes=CORRECTION_S / 60,
)
GONE_ON = {
    GoneOn.GRADED: said("another annotator has graded this pair after you, so your earlier grade stays"),
    GoneOn.ON_SCREEN: said("another annotator has this pair on screen, so your earlier grade stays"),
}


class GradeLook:
    """What is read about a grade before anything is locked; it tells what to lock.

    Attributes:
        pair: the pair; None if it is not in the project.
        seat: the annotator's seat (place) at it; None if they have none.
        assignment: the queries that a lead gave them; None if they may grade any pair.
    """

    def __init__(self, me: AnnotatorId, key: PairKey, assignment: Select[Assignment | None] | None = None) -> None:
        """Prepare the SELECTs; the one of the assignment is given where it is fetched anyway."""
        self.pair = judgements.pair_select(key)
        self.seat = seats.seat_by_key_select(key, me)
        self.assignment = assignment or assignments.assignment_select(me)
        self.selects: tuple[Select[Any], ...] = (self.pair, self.seat)
        if assignment is None:
            self.selects += (self.assignment,)


def record_grade(
    store: Store,
    person: Annotator,
    event: GradeEvent,
    *,
    now: float,
    simulated: bool = False,
    looked: GradeLook | None = None,
) -> Receipt:
    """Store a grade and update the verdict on its pair in one transaction; the receipt says whether it was stored.

    Sending the same event again changes nothing. A grade that cannot be accepted is kept in the event log; the receipt
    then has a message for the annotator.

    Args:
        store: the project's store.
        person: the annotator who graded.
        event: the grade, with the key that identifies the key press.
        now: when it arrived, in seconds since 1970.
        simulated: whether the demo made the grade, not a person.
        looked: what was read about this grade just now, if it was.
    """
    me, receipt = person.annotator_id, None
    while receipt is None:
        if looked is None:
            looked = GradeLook(me, event.pair)
            look(store, *looked.selects)
        pair = looked.pair.result
        if pair is None:
            return Receipt(event.key, ReceiptStatus.REFUSED, said("this pair is not in the project (any more)"))
        act = partial(_record, person=person, pair=pair, event=event, looked=looked, now=now, simulated=simulated)
        receipt = sharing(store, locks(me, [pair.batch_id]), act)
        looked = None
    return receipt


class _Facts:
    """What decides about one grade, asked in one round trip."""

    def __init__(self, person: Annotator, pair: PairRow, event: GradeEvent, looked: GradeLook, now: float) -> None:
        self._looked = looked
        me, pair_id, seen = person.annotator_id, pair.pair_id, looked.seat.result
        claimed_at = seen.claimed_at if seen else None
        self.batch = judgements.batch_select(event.pair)
        self.scale = project_rows.scale_select()
        self.key_press = judgements.key_press_select(pair_id, event.key)
        self.paused = assignments.pause_select(me)
        self.assignment = assignments.assignment_select(me)
        self.seat = seats.seat_of_select(pair_id, me)
        self.credit_from = credit_from(claimed_at, now)
        self.credited = people_rows.credited_select(me, now if self.credit_from is None else self.credit_from, now=now)
        self.counts = judgements.counts_select(me, now)
        self.within = assignments.includes_select(looked.assignment.result, pair.batch_id)
        self.note = judgements.note_select(pair_id, me)
        self.status = PairStatus(pair_id, person)

    def fetch(self, db: Database) -> None:
        limits = () if self._looked.assignment.result is None else (self.counts, self.within)
        fetch(
            db,
            *(self.batch, self.scale, self.key_press, self.paused, self.assignment, self.seat, self.credited),
            *(self.note, *limits, *self.status.selects),
        )


def _record(
    db: Database,
    *,
    person: Annotator,
    pair: PairRow,
    event: GradeEvent,
    looked: GradeLook,
    now: float,
    simulated: bool,
) -> Receipt | None:
    """Store a grade in the transaction that has locked the person and the batch of the pair.

    Return its receipt; None if the pair or the person's assignment has changed since `looked` was read.
    """
    facts = _Facts(person, pair, event, looked, now)
    facts.fetch(db)
    if facts.batch.result != pair.batch_id or facts.assignment.result != looked.assignment.result:
        return None
    try:
        facts.status.decide()  # before anything is stored: no grade is taken under a rule that this code does not have
        seat = _accept(db, person, pair, event, facts, now=now, simulated=simulated)
    except ReelRankError as refusal:
        refuse(db, person, pair, event, str(refusal), now=now)
        return Receipt(event.key, ReceiptStatus.REFUSED, str(refusal))
    if seat is not None:
        others = [given.grade for given in facts.status.grades.result if given.seat_no != seat.seat_no or seat.gold]
        grades = others if seat.gold else [*others, event.grade]
        settle_by(db, pair.pair_id, person, grades, facts.status, now=now)
    return Receipt(event.key, ReceiptStatus.SAVED)


def _accept(
    db: Database,
    person: Annotator,
    pair: PairRow,
    event: GradeEvent,
    facts: _Facts,
    *,
    now: float,
    simulated: bool,
) -> Seat | None:
    """Store one grade if the annotator may give it, and return the seat at which they gave it.

    The result is None for a repeated event, which changes nothing. A new key press is stored even if the grade is the
    same, so that the event is recognised if it arrives again later.

    Raises:
        SeatUnavailable: the person has no seat (place) at the pair, is paused, or the grade is beyond their quota or
            outside their assignment.
        PairLocked: the person may no longer change their grade.
        ReelRankError: the grade is not on the scale, or the key belongs to another key press.
    """
    me, scale = person.annotator_id, facts.scale.result
    if event.grade not in scale:
        raise ReelRankError(said("{grade} is not a grade: grades are {words}", grade=event.grade, words=scale.words))
    if event.key.startswith(FROM_EXAM):
        raise ReelRankError(said("this grade was sent under the name of an exam answer: grade the pair again"))
    owner, why = facts.key_press.result
    if owner == (pair.pair_id, me):
        return None
    if owner is not None:
        raise ReelRankError(said("this key press was already saved for another pair or person: grade the pair again"))
    if why:
        raise SeatUnavailable(why)
    if facts.paused.result:
        raise SeatUnavailable(PAUSED)
    seat, assignment = facts.seat.result, facts.assignment.result
    if seat is None:
        raise SeatUnavailable(_why_no_seat(db, me, pair))
    earlier = _earlier_grade(db, person, pair, now=now) if seat.judged else None
    if assignment is not None and not seat.judged:
        # Gold questions (hidden pairs with known grades) may be outside an assignment, but count in its quota.
        if assignment.room(*facts.counts.result) == 0:
            raise SeatUnavailable(QUOTA)
        if not seat.gold and not facts.within.result:
            raise SeatUnavailable(NOT_ASSIGNED)
    work = WorkTime(clamp_count(event.active_ms), event.elapsed_ms)  # the demo invents its times
    if not simulated:
        work = _work(db, me, seat, event, facts, now)
    note = None if event.note is None else tidy(event.note)
    if note is not None and note == facts.note.result:
        note = None
    judgements.add(
        db,
        seat,
        me,
        event.grade,
        revision=earlier.revision + 1 if earlier else 1,
        at=now,
        active_ms=work.active_ms,
        elapsed_ms=work.elapsed_ms,
        contexts=clamp_count(event.contexts),
        event_key=event.key,
        simulated=simulated,
        note=note,
    )
    seats.mark_judged(db, seat, me)
    return seat


def _earlier_grade(db: Database, person: Annotator, pair: PairRow, *, now: float) -> CurrentGrade | None:
    """Return the grade that a person corrects.

    Raises:
        PairLocked: they may no longer change it.
    """
    correction = GradeCorrection(person, pair.pair_id, now=now)
    fetch(db, *correction.selects)
    if why := correction.refusal:
        raise PairLocked(why)
    return correction.earlier.result


def _work(db: Database, me: AnnotatorId, seat: Seat, event: GradeEvent, facts: _Facts, now: float) -> WorkTime:
    start = credit_from(seat.claimed_at, now)
    if start is None or start != facts.credit_from:
        return work_time(db, me, event.active_ms, event.elapsed_ms, since=seat.claimed_at, now=now)
    return limit_since(start, event.active_ms, event.elapsed_ms, credited_ms=facts.credited.result, now=now)


def _why_no_seat(db: Database, me: AnnotatorId, pair: PairRow) -> str:
    if not pair_status.verdict(db, pair.pair_id).is_settled:
        if seats.is_set_aside(db, pair.pair_id):
            return SET_ASIDE
        if seats.answered_in_exam(db, me, pair.pair_id):
            return KNOWN
    return GONE


def tidy(note: str) -> str:
    r"""Return a note as it is stored: with single spaces, no control characters, and at most `LONGEST_NOTE` characters.

    >>> tidy("  Is\tthis  a cup?\x07 "), len(tidy("far " * 100)) <= LONGEST_NOTE
    ('Is this a cup?', True)
    """
    return typed_text.tidy(note)[:LONGEST_NOTE].strip()


class GradeCorrection:
    """Whether a person may change their grade of a pair, as SELECTs to be fetched together.

    Grades of an earlier campaign or an exam can never be changed. Other grades can be changed while the pair needs
    grades. After that they can be changed for `CORRECTION_S` seconds, unless somebody has gone on with the pair. That
    is so if an annotator graded it later, or a lead decided about it. It is also so if an annotator who was asked for a
    further grade has its clip on screen.
    """

    def __init__(self, person: Annotator, pair_id: PairId, *, now: float) -> None:
        me = person.annotator_id
        self._now = now
        self.earlier = judgements.own_grade_select(pair_id, me)
        self._in_exam = seats.in_exam_select(pair_id, me)
        self.verdict = pair_status.verdict_select(pair_id)
        self._last_act = pair_status.last_act_select(pair_id)
        self._gone_on = pair_status.gone_on_select(pair_id, me, now=now)

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        """The SELECTs."""
        return self.earlier, self._in_exam, self.verdict, self._last_act, self._gone_on

    @property
    def refusal(self) -> str | None:
        """Why the person may not change their grade any more, as a message for them; None if they may."""
        earlier = self.earlier.result
        if earlier is None:
            return None
        if earlier.imported:
            return EARLIER_CAMPAIGN
        if self._in_exam.result:
            return IN_EXAM
        verdict = self.verdict.result
        if verdict is Verdict.OPEN:
            return None
        if verdict is Verdict.ADJUDICATED and not earlier.gold:
            return DECIDED
        if not earlier.gold and pair_status.lead_has_gone_on(self._last_act.result, earlier.seat_no):
            return LOOKED_AT
        if (gone_on := self._gone_on.result) is not None:
            return GONE_ON[gone_on]
        return None if days.lasts(earlier.graded_at, CORRECTION_S, now=self._now) else TOO_LATE


def refuse(db: Database, person: Annotator, pair: PairRow, event: GradeEvent, why: str, *, now: float) -> None:
    """Record a refused grade in the event log, so that nothing a person typed is lost; `why` is the reason."""
    if fetch_one(db, judgements.key_press_select(pair.pair_id, event.key))[1] is None:
        events.record(
            db,
            GRADE_REFUSED,
            at=now,
            actor=person.annotator_id,
            subject=f"pair:{pair.pair_id}",
            payload={"grade": event.grade, "event_key": event.key, "why": why}
            | ({"note": tidy(event.note)} if event.note else {}),
        )


class LastGrade:
    """The pair that a person graded last, for the page to correct it, as SELECTs to be fetched together.

    Attributes:
        pair: the pair.
        selects: the SELECTs.
    """

    def __init__(self, person: Annotator, pair: PairRow, grade: int, *, is_new: bool = False, now: float) -> None:
        """Prepare the SELECTs.

        A grade that was stored a moment ago (`is_new`) can be corrected, unless a lead has decided about the pair. Of
        gold questions (hidden pairs with known grades) it can be, so that they look like any pair.
        """
        self.pair, self._grade, self._is_new = pair, grade, is_new
        self._correction = GradeCorrection(person, pair.pair_id, now=now)
        self._note = judgements.note_select(pair.pair_id, person.annotator_id)
        correction = (self._correction.earlier, self._correction.verdict) if is_new else self._correction.selects
        self.selects: tuple[Select[Any], ...] = (*correction, self._note)

    def item(self, progress: tuple[int, int]) -> DeskItem | None:
        """Return the pair with its grade; None if the person may not correct the grade any more.

        `progress` is (graded, total) of its batch.
        """
        correction, earlier = self._correction, self._correction.earlier.result
        if earlier is None:
            return None
        if self._is_new:
            is_final = correction.verdict.result is Verdict.ADJUDICATED and not earlier.gold
        else:
            is_final = correction.refusal is not None
        return None if is_final else _to_correct(self.pair, self._grade, *progress, self._note.result)


def recent_items(store: Store, person: Annotator, *, now: float) -> list[DeskItem]:
    """Return the pairs that a person graded within the last `CORRECTION_S` (900) seconds, newest first.

    There are at most `RECENT` (20).

    A pair is listed even if its grade can no longer be changed, because somebody has gone on with the pair. The person
    learns of that only when they try to change it.
    """
    with reading(store) as db:
        graded = judgements.recently_graded(db, person.annotator_id, RECENT)
        new = [(pair, grade) for pair, grade, at in graded if days.lasts(at, CORRECTION_S, now=now)]
        me, shown = person.annotator_id, []
        assignment = assignments.current_assignment(db, me)
        for pair, grade in new:
            progress = fetch_one(db, assignments.progress_select(me, [pair.batch_id], assignment, now=now))
            note = fetch_one(db, judgements.note_select(pair.pair_id, me))
            shown.append(_to_correct(pair, grade, *progress.get(pair.batch_id, (0, 0)), note))
        return shown


def _to_correct(pair: PairRow, grade: int, graded: int, total: int, note: str) -> DeskItem:
    return DeskItem(pair.pair_key, pair.query, graded, total, pair.end_s - pair.start_s, grade, pair.whole, note)
