"""Store a grade or a correction of one, and compute the verdict on its pair.

A seat is a place for one annotator at a pair. Only the annotator who has a seat may grade the pair; knowing the pair's
key is not enough. They must not be paused. The grade must be within their quota and their assignment, the queries that
a lead gave them. Seats are reserved for a limited time. After that, a seat still belongs to its holder until somebody
else takes it, so a grade that was given offline can still be accepted.

*Reads* seats, pauses, assignments, decisions of leads. *Writes* judgements (grades), notes, seats, consensus
(verdicts), events. The rule for the verdict is one pure function, `backend.campaign.judging.rules.decide`.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

from backend.campaign.judging.model import (
    CORRECTION_S,
    DE_ESCALATED,
    ESCALATED,
    GRADE_REFUSED,
    DeskItem,
    GradeEvent,
    Receipt,
    ReceiptStatus,
)
from backend.campaign.judging.rows import assignments, judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import CurrentGrade, PairRow
from backend.campaign.judging.rows.pair_status import GoneOn
from backend.campaign.judging.rows.seats import Seat
from backend.campaign.judging.rules import RULE_VERSION, Decision, decide, version
from backend.campaign.nouns import FROM_EXAM, Annotator, Operator, Person, Verdict
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.crediting import WorkTime, clamp_count, work_time
from backend.campaign.setup.project import rows as project_rows
from backend.core import days, typed_text
from backend.core.errors import PairLocked, ProjectError, ReelRankError, SeatUnavailable
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

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


def record_grade(store: Store, person: Annotator, event: GradeEvent, *, now: float, simulated: bool = False) -> Receipt:
    """Store a grade and update the verdict on its pair in one transaction; the receipt says whether it was stored.

    A grade that cannot be accepted is kept in the event log; the receipt then has a message for the annotator.
    """
    with writing(store) as db:
        pair = judgements.pair_by_key(db, event.pair)
        if pair is None:
            return Receipt(event.key, ReceiptStatus.REFUSED, said("this pair is not in the project (any more)"))
        try:
            if accept(store, person, pair, event, now=now, simulated=simulated):
                settle(db, pair.pair_id, person, now=now)
        except ReelRankError as refusal:
            refuse(store, person, pair, event, str(refusal), now=now)
            return Receipt(event.key, ReceiptStatus.REFUSED, str(refusal))
    return Receipt(event.key, ReceiptStatus.SAVED)


def accept(
    store: Store, person: Annotator, pair: PairRow, event: GradeEvent, *, now: float, simulated: bool = False
) -> bool:
    """Store one grade if the annotator may give it; sending the same event again changes nothing.

    Args:
        store: the project's store.
        person: the annotator who graded.
        pair: the pair.
        event: the grade, with the key that identifies the key press.
        now: when it arrived, in seconds since 1970.
        simulated: whether the demo made the grade, not a person.

    Returns:
        Whether anything was written (False for a repeated event). A new key press is stored even if the grade is the
        same, so that the event is recognised if it arrives again later.

    Raises:
        SeatUnavailable: the person has no seat (place) at the pair, is paused, or the grade is beyond their quota or
            outside their assignment.
        PairLocked: the person may no longer change their grade.
        ReelRankError: the grade is not on the scale, or the key belongs to another key press.
    """
    me = person.annotator_id
    with writing(store) as db:
        scale = project_rows.scale(db)
        if event.grade not in scale:
            raise ReelRankError(
                said("{grade} is not a grade: grades are {words}", grade=event.grade, words=scale.words)
            )
        if event.key.startswith(FROM_EXAM):
            raise ReelRankError(said("this grade was sent under the name of an exam answer: grade the pair again"))
        owner, why = judgements.key_press(db, pair.pair_id, event.key)
        if owner == (pair.pair_id, me):
            return False
        if owner is not None:
            raise ReelRankError(
                said("this key press was already saved for another pair or person: grade the pair again")
            )
        if why:
            raise SeatUnavailable(why)
        paused, has_assignment = assignments.limits(db, me)
        if paused:
            raise SeatUnavailable(PAUSED)
        seat = seats.seat_of(db, pair.pair_id, me)
        if seat is None:
            raise SeatUnavailable(_why_no_seat(db, me, pair))
        earlier = judgements.own_grade(db, pair.pair_id, me) if seat.judged else None
        if earlier is not None and (why := locked(store, person, pair, earlier, now=now)):
            raise PairLocked(why)
        if has_assignment and not seat.judged and (why := _limit_refusal(db, me, seat, pair, now=now)):
            raise SeatUnavailable(why)
        work = WorkTime(clamp_count(event.active_ms), event.elapsed_ms)  # the demo invents its times
        if not simulated:
            work = work_time(db, me, event.active_ms, event.elapsed_ms, since=seat.claimed_at, now=now)
        note = None if event.note is None else tidy(event.note)
        if note is not None and note == judgements.note_on(db, pair.pair_id, me):
            note = None
        judgement_id = judgements.add(
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
        if note is not None and not seat.gold:
            judgements.add_note(db, judgement_id, note)
    return True


def _why_no_seat(db: Database, me: AnnotatorId, pair: PairRow) -> str:
    if not pair_status.verdict(db, pair.pair_id).is_settled:
        if seats.is_set_aside(db, pair.pair_id):
            return SET_ASIDE
        if seats.answered_in_exam(db, me, pair.pair_id):
            return KNOWN
    return GONE


def _limit_refusal(db: Database, me: AnnotatorId, seat: Seat, pair: PairRow, *, now: float) -> str | None:
    """Return why a person's first grade of a pair exceeds their quota or assignment; None if it does not.

    An assignment is the queries that a lead gave them. Gold questions (hidden pairs with known grades) may be outside
    it, but count in the quota.
    """
    assignment = assignments.current_assignment(db, me)
    if assignment is None:
        return None
    if assignment.room(*judgements.counts(db, me, now)) == 0:
        return QUOTA
    return None if seat.gold or assignments.includes_batch(db, assignment, pair.batch_id) else NOT_ASSIGNED


def tidy(note: str) -> str:
    r"""Return a note as it is stored: with single spaces, no control characters, and at most `LONGEST_NOTE` characters.

    >>> tidy("  Is\tthis  a cup?\x07 "), len(tidy("far " * 100)) <= LONGEST_NOTE
    ('Is this a cup?', True)
    """
    return typed_text.tidy(note)[:LONGEST_NOTE].strip()


def locked(store: Store, person: Annotator, pair: PairRow, earlier: CurrentGrade, *, now: float) -> str | None:
    """Return why a person may not change their grade any more, as a message for them; None if they may.

    Grades of an earlier campaign or an exam can never be changed. Other grades can be changed while the pair needs
    grades. After that they can be changed for `CORRECTION_S` seconds, unless somebody has gone on with the pair. That
    is so if an annotator graded it later, or a lead decided about it. It is also so if an annotator who was asked for a
    further grade has its clip on screen.
    """
    if earlier.imported:
        return EARLIER_CAMPAIGN
    with reading(store) as db:
        if seats.answered_in_exam(db, person.annotator_id, pair.pair_id):
            return IN_EXAM
        verdict = pair_status.verdict(db, pair.pair_id)
        if verdict is Verdict.OPEN:
            return None
        if verdict is Verdict.ADJUDICATED and not earlier.gold:
            return DECIDED
        if not earlier.gold and pair_status.lead_has_gone_on(db, pair.pair_id, earlier.seat_no):
            return LOOKED_AT
        gone_on = pair_status.annotator_has_gone_on(db, pair.pair_id, person.annotator_id, now=now)
    if gone_on is not None:
        return GONE_ON[gone_on]
    return None if days.lasts(earlier.graded_at, CORRECTION_S, now=now) else TOO_LATE


def refuse(store: Store, person: Annotator, pair: PairRow, event: GradeEvent, why: str, *, now: float) -> None:
    """Record a refused grade in the event log, so that nothing a person typed is lost; `why` is the reason."""
    with writing(store) as db:
        if judgements.key_press(db, pair.pair_id, event.key)[1] is None:
            events.record(
                db,
                GRADE_REFUSED,
                at=now,
                actor=person.annotator_id,
                subject=f"pair:{pair.pair_id}",
                payload={"grade": event.grade, "event_key": event.key, "why": why}
                | ({"note": tidy(event.note)} if event.note else {}),
            )


def previous_item(store: Store, person: Annotator, *, now: float) -> DeskItem | None:
    """Return the pair that this person graded last, if they may still correct the grade; otherwise None."""
    with reading(store) as db:
        last = judgements.last_graded(db, person.annotator_id)
        if last is None:
            return None
        pair, grade = last
        earlier = judgements.own_grade(db, pair.pair_id, person.annotator_id)
        if earlier is None or locked(store, person, pair, earlier, now=now):
            return None
        return _to_correct(db, person, pair, grade, now=now)


def recent_items(store: Store, person: Annotator, *, now: float) -> list[DeskItem]:
    """Return the pairs that a person graded within the last `CORRECTION_S` (900) seconds, newest first.

    There are at most `RECENT` (20).

    A pair is listed even if its grade can no longer be changed, because somebody has gone on with the pair. The person
    learns of that only when they try to change it.
    """
    with reading(store) as db:
        graded = judgements.recently_graded(db, person.annotator_id, RECENT)
        new = [(pair, grade) for pair, grade, at in graded if days.lasts(at, CORRECTION_S, now=now)]
        return [_to_correct(db, person, pair, grade, now=now) for pair, grade in new]


def _to_correct(db: Database, person: Annotator, pair: PairRow, grade: int, *, now: float) -> DeskItem:
    graded, total = assignments.batch_progress(db, person.annotator_id, pair.batch_id, now=now)
    note = judgements.note_on(db, pair.pair_id, person.annotator_id)
    return DeskItem(pair.pair_key, pair.query, graded, total, pair.end_s - pair.start_s, grade, pair.whole, note)


def settle(db: Database, pair_id: PairId, person: Person | Operator, *, now: float) -> None:
    """Update the verdict on one pair, and its number of seats (places for annotators).

    Both follow from the pair's grades and the decisions of leads.

    Args:
        db: the project's database, in the transaction that changed a grade or a decision.
        pair_id: the pair.
        person: who made that change (named in the event log).
        now: seconds since 1970.
    """
    grades = [standing.grade for standing in judgements.current_grades(db, pair_id)]
    ruled, re_opened = pair_status.decision_of_lead(db, pair_id)
    decision = consensus_rule(db)(grades, re_opened)
    verdict = decision.verdict
    pair_status.set_verdict(db, pair_id, *_verdict(decision, ruled), version(re_opened))
    actor = person.annotator_id
    subject = f"pair:{pair_id}"
    if verdict is Verdict.ESCALATED and seats.open_second_round(db, pair_id):
        events.record(db, ESCALATED, at=now, actor=actor, subject=subject, payload={"grades": grades})
    elif verdict in (Verdict.OPEN, Verdict.CONSENSUS) and seats.close_second_round(db, pair_id):
        # One of the first two people corrected their grade before anybody graded a further seat.
        events.record(db, DE_ESCALATED, at=now, actor=actor, subject=subject, payload={"grades": grades})
    if ruled is not None:
        seats.close(db, pair_id)
    candidates_rows.refresh_agenda_of_pair(db, pair_id)


def rebuild_verdicts(store: Store) -> int:
    """Compute the verdicts on all pairs again from grades and leads' decisions; return the number of verdicts.

    If the stored verdicts are right, none changes.
    """
    with writing(store) as db:
        derived = expected_verdicts(db)
        pair_status.replace_verdicts(db, ((pair, *row) for pair, row in derived.items()))
    return len(derived)


def expected_verdicts(db: Database) -> dict[PairId, tuple[Verdict, int | None, float | None, str]]:
    """Return what the table `consensus` should hold, by pair: (verdict, relevance, mean grade, version of the rule).

    Pairs that still need their first grades are left out. The rule does not depend on the order of grades, so it runs
    once for each distinct combination of grades.
    """
    grades, ruled = pair_status.grades_by_pair(db), pair_status.all_adjudicated(db)
    re_opened, rule = pair_status.all_re_opened(db), cache(consensus_rule(db))
    rows = {
        pair: (
            *_verdict(rule(tuple(grades.get(pair, ())), pair in re_opened), ruled.get(pair)),
            version(pair in re_opened),
        )
        for pair in sorted({*grades, *ruled})
    }
    return {pair: row for pair, row in rows.items() if row[0] is not Verdict.OPEN}


def consensus_rule(db: Database) -> Callable[[Sequence[int], bool], Decision]:
    """Return the function that computes the verdict on a pair by this campaign's settings.

    The settings are how far two grades may differ and still agree, and how their mean is rounded.

    Its arguments are the grades of the pair, and whether a lead re-opened the pair for two more annotators.

    Raises:
        ProjectError: the campaign uses a version of the rule that this code does not have.
    """
    rule_version, tolerance, rounding = project_rows.rule(db)
    if rule_version != RULE_VERSION:
        raise ProjectError(
            said(
                "this campaign uses the rule {rule_version}, but this ReelRank has the rule {known}: use "
                "the ReelRank that made the campaign, or a newer one",
                rule_version=rule_version,
                known=RULE_VERSION,
            )
        )
    with_facts = partial(decide, tolerance=tolerance, rounding=rounding)
    return lambda grades, re_opened: with_facts(grades, re_opened=re_opened)


def _verdict(decision: Decision, ruled: int | None) -> tuple[Verdict, int | None, float | None]:
    """Return (verdict, relevance, mean of the grades) to store for a pair.

    `ruled` is the relevance that a lead decided, which replaces that of the consensus rule; None without a decision.
    """
    if ruled is None:
        return decision.verdict, decision.relevance, decision.mean
    return Verdict.ADJUDICATED, ruled, decision.mean
