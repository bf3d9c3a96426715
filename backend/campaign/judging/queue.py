"""Take back pairs from annotators: those that they skip, leave, or cannot see.

Skipping a pair frees its seat. A skip is never a grade; leads read its reason. The table `skip` also holds the reports
of broken clips. A moment is blocked by a fault of its file, by a lead, or by the reports of two people, never by one
annotator. Its pairs are not handed out while it is blocked.

*Reads* pairs, seats, pauses. *Writes* seats, skips, clip faults, events.
"""

from collections.abc import Sequence
from functools import partial

from backend.campaign.judging.locks import locks
from backend.campaign.judging.model import (
    CLIP_REPORTED,
    CLIP_RESTORED,
    OFFERED_AGAIN,
    SKIPPED,
    SKIPS_LIFTED,
    Assignment,
    LiftedSkips,
    Receipt,
    ReceiptStatus,
    ReportedClip,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.rows import assignments, judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.nouns import SEATS_RETURNED, Annotator, Lead, Person
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, PairLocked
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, sharing, writing


def sign_off(store: Store, person: Person, *, now: float) -> int:
    """Free the pairs that are reserved for this person and not graded; return their number."""
    with writing(store) as db:
        return give_back(db, person.annotator_id, [None], person.annotator_id, "signed out", now=now)


def give_back_unassigned(
    db: Database, me: AnnotatorId, assignment: Assignment | None, actor: AnnotatorId, *, now: float
) -> int:
    """Free the pairs that are reserved for an annotator but outside their assignment; return the number of pairs freed.

    An assignment is the queries that a lead gave the annotator. Gold questions (hidden pairs with known grades) stay
    reserved. `actor` is the person named in the event log.
    """
    outside = [
        item.pair_id
        for item in seats.held_pairs(db, me)
        if not assignments.includes_batch(db, assignment, item.batch_id)
    ]
    return give_back(db, me, [pair for pair in outside if seats.is_held(db, me, pair)], actor, "assigned", now=now)


def give_back(
    db: Database, me: AnnotatorId, pairs: Sequence[PairId | None], actor: AnnotatorId, why: str, *, now: float
) -> int:
    """Free the pairs that are reserved for this annotator, with an event that names `actor` and the reason `why`.

    `pairs` are the pairs to free; an element None stands for all of them. Return the number of pairs freed.
    """
    freed = [freed for pair in pairs for freed in seats.release(db, me, pair)]
    if freed:
        payload = {"pairs": freed, "why": why}
        subject = f"annotator:{me}"
        events.record(db, SEATS_RETURNED, at=now, actor=actor, subject=subject, payload=payload)
    return len(freed)


MOST_A_MINUTE = 30
"""The most skips and reports of one person in a minute. A page that was offline may send seven at once."""
MINUTE_S = 60.0
REPORTS_TO_BLOCK = 2
"""Number of people whose reports block a moment."""
LONGEST_REASON = 200

GRADED = said("you have graded this pair already; press another grade to correct it")
USED = said("this key press was already saved for another pair or person: skip the pair again")
GONE = said("this pair is not on your desk any more")
PAUSED = said("your work is paused")
TOO_MANY = said("you have skipped {most} pairs within a minute: wait a minute, then skip this one", most=MOST_A_MINUTE)


def record_skip(store: Store, person: Annotator, event: SkipEvent, *, now: float) -> Receipt:
    """Store an annotator's skip of a pair that is reserved for them; the receipt says whether it was stored.

    Sending the same skip again changes nothing. The annotator does not get the pair again and cannot grade it, unless a
    lead offers it again.
    """
    receipt = None
    while receipt is None:
        pair = judgements.pair_by_key(store.db, event.pair)
        act = partial(_record_skip, person=person, pair=pair, event=event, now=now)
        if event.kind is SkipKind.BROKEN_CLIP:  # it may take the moment's pairs from everybody
            with writing(store) as db:
                receipt = act(db)
        else:
            receipt = sharing(store, locks(person.annotator_id, [pair.batch_id] if pair else []), act)
    return receipt


def _record_skip(
    db: Database, *, person: Annotator, pair: PairRow | None, event: SkipEvent, now: float
) -> Receipt | None:
    """Store a skip in a transaction; None if `pair`, which was read before it began, is not so any more."""
    me = person.annotator_id
    if judgements.pair_by_key(db, event.pair) != pair:
        return None
    if pair is None:
        return Receipt(event.key, ReceiptStatus.REFUSED, said("this pair is not in the project (any more)"))
    owner = pair_status.skip_owner(db, event.key)
    if owner is not None:
        is_own = owner == (pair.pair_id, me)
        return Receipt(event.key, *((ReceiptStatus.SAVED,) if is_own else (ReceiptStatus.REFUSED, USED)))
    seat = seats.seat_of(db, pair.pair_id, me)
    refusal = GRADED if seat is not None and seat.judged else GONE if seat is None else None
    if refusal := skip_refusal(db, me, now=now) or refusal:
        return Receipt(event.key, ReceiptStatus.REFUSED, refusal)
    take_skip(db, person, pair, event, now=now)
    return Receipt(event.key, ReceiptStatus.SAVED)


def skip_refusal(db: Database, me: AnnotatorId, *, now: float) -> str | None:
    """Return why an annotator may not skip or report anything now, as a message for them; None if they may."""
    if assignments.is_paused(db, me):
        return PAUSED
    return TOO_MANY if pair_status.recent_skips(db, me, since=now - MINUTE_S, now=now) >= MOST_A_MINUTE else None


def take_skip(db: Database, person: Annotator, pair: PairRow, event: SkipEvent, *, now: float) -> None:
    """Store a skip of a pair and free the pair for other annotators.

    If the skip reports a broken clip and `REPORTS_TO_BLOCK` (2) people have now done so, nobody gets its moment any
    more.
    """
    me = person.annotator_id
    reason = event.reason.strip()[:LONGEST_REASON] or "no reason given"
    pair_status.add_skip(db, pair.pair_id, me, event.kind, reason, event.key, at=now)
    seats.release(db, me, pair.pair_id)
    events.record(
        db,
        SKIPPED,
        at=now,
        actor=me,
        subject=f"pair:{pair.pair_id}",
        payload={"kind": event.kind, "reason": reason},
    )
    if event.kind is SkipKind.BROKEN_CLIP and pair_status.reporters(db, pair.moment_id) >= REPORTS_TO_BLOCK:
        block_moment(db, person, pair.moment_id, f"Reported from the desk: {reason}", now=now)


@lead_only
def lift_skips(
    project: Project, lead: Lead, annotator_id: AnnotatorId, *, reports_only: bool, now: float
) -> LiftedSkips:
    """Undo all skips of an annotator, or, with `reports_only`, only their reports of broken clips.

    The person may get the pairs again. A clip that only reports had blocked is handed out again if too few reports
    remain. A clip that a lead blocked, or whose file is faulty, stays blocked.

    Raises:
        Overtaken: this person has no skip to undo (any more).
    """
    with writing(project.store) as db:
        count, moments = pair_status.lift_all_skips(db, annotator_id, reports_only=reports_only, at=now)
        if not count:
            raise Overtaken(said("nothing is left to undo: somebody else undid it already"))
        clips = unblock_reported(db, moments, fewest=REPORTS_TO_BLOCK)
        events.record(
            db,
            SKIPS_LIFTED,
            at=now,
            actor=lead.annotator_id,
            subject=f"annotator:{annotator_id}",
            payload={"skips": count, "reports_only": reports_only, "clips": clips},
        )
    return LiftedSkips(count, clips)


@lead_only
def offer_again(project: Project, lead: Lead, key: PairKey, *, now: float) -> int:
    """Offer a pair again to all annotators who skipped it; return the number of these people.

    Raises:
        Overtaken: somebody has already offered it again.
        PairLocked: the pair needs no more grades, so nobody could get it.
    """
    with writing(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is not None and pair_status.verdict(db, pair.pair_id).is_settled:
            raise PairLocked(said("this pair is settled, so nobody else needs to grade it"))
        lifted = pair_status.lift_skips(db, pair.pair_id, None, at=now) if pair else 0
        if pair is not None and not lifted and (offered := pair_status.last_offer(db, pair.pair_id)):
            who = said("You", _context="by") if offered[0] == lead.name else offered[0]
            raise Overtaken(
                said(
                    "{who} offered this pair again {when}, and nobody has skipped it since",
                    who=who,
                    when=ago(now - offered[1]),
                )
            )
        if pair is not None and lifted:
            events.record(
                db,
                OFFERED_AGAIN,
                at=now,
                actor=lead.annotator_id,
                subject=f"pair:{pair.pair_id}",
                payload={"people": lifted},
            )
    return lifted


@lead_only
def reported_clips(project: Project, lead: Lead) -> list[ReportedClip]:
    """Return the clips that somebody reported as broken, but that other annotators still get."""
    with reading(project.store) as db:
        return pair_status.reported_clips(db)


@lead_only
def block_clip(project: Project, lead: Lead, key: PairKey, reason: str, *, now: float) -> None:
    """Stop handing out the moment of a pair, because a lead says so, until a lead restores it."""
    with writing(project.store) as db:
        if pair := judgements.pair_by_key(db, key):
            block_moment(db, lead, pair.moment_id, reason, now=now)


def block_moment(
    db: Database,
    person: Lead | Annotator,
    moment_id: MomentId,
    reason: str,
    *,
    found_by: str = pair_status.BY_PERSON,
    now: float,
) -> None:
    """Stop handing out all pairs of a moment because its clip cannot be shown, and record the reason for leads.

    Annotators who have such a pair and have not graded it lose it. `found_by` says whether the fault was found in the
    video's file or by a person. A fault of the file ends once the file is good. A fault that a person reported stays
    until a lead restores the clip.
    """
    pair_status.add_fault(db, moment_id, reason, at=now, found_by=found_by)
    seats.release_broken(db, moment_id)
    candidates_rows.refresh_agenda_of_moment(db, moment_id)
    events.record(
        db,
        CLIP_REPORTED,
        at=now,
        actor=person.annotator_id,
        subject=f"moment:{moment_id}",
        payload={"reason": reason},
    )


def unblock_reported(db: Database, moments: Sequence[MomentId], *, fewest: int) -> int:
    """Hand out moments again that were blocked only by annotators' reports; return how many these are.

    A moment stays blocked if at least `fewest` people still report it as broken.
    """
    freed = 0
    for moment_id in moments:
        if pair_status.reporters(db, moment_id) < fewest and pair_status.is_blocked_by_reports(db, moment_id):
            pair_status.remove_fault(db, moment_id)
            candidates_rows.refresh_agenda_of_moment(db, moment_id)
            freed += 1
    return freed


@lead_only
def restore_clip(project: Project, lead: Lead, key: PairKey, *, now: float) -> None:
    """Hand out the pairs of a blocked clip again, because the video was repaired or the report was a mistake."""
    with writing(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        pair_status.remove_fault(db, pair.moment_id)
        candidates_rows.refresh_agenda_of_moment(db, pair.moment_id)
        events.record(db, CLIP_RESTORED, at=now, actor=lead.annotator_id, subject=f"moment:{pair.moment_id}")
