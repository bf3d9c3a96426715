"""Choose the next pairs for an annotator, and take back pairs that are skipped or cannot be shown.

A seat is a place for one annotator at a pair, reserved for a limited time. The rules of choosing are these. The
candidates of a query stay together, in groups called batches. Inside a batch, each annotator has an order of their own,
at random and never by similarity. An annotator begins a new batch only when the current one has nothing left for them.
Batches with a pair that needs only its last grade come first, and batches in which two others are grading come last.
Nobody gets a pair twice. People with an assignment get only pairs of its queries, up to its quotas. Like everybody
else, they also get gold questions (hidden pairs with known grades).

Skipping a pair frees its seat. A skip is never a grade; leads read its reason. The table `skip` also holds the reports
of broken clips. A moment is blocked by a fault of its file, by a lead, or by the reports of two people, never by one
annotator. Its pairs are not handed out while it is blocked.

*Reads* batches, pairs, seats, pauses. *Writes* seats, skips, clip faults, events.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from backend.campaign.judging.model import (
    CLIP_REPORTED,
    CLIP_RESTORED,
    OFFERED_AGAIN,
    SEATS_CLAIMED,
    SKIPPED,
    SKIPS_LIFTED,
    Assignment,
    Desk,
    DeskItem,
    DeskState,
    LiftedSkips,
    Receipt,
    ReceiptStatus,
    ReportedClip,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.rows import assignments, judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.judging.rules import renewal_slack_s
from backend.campaign.nouns import FIRST_ROUND_SEATS, SEATS_RETURNED, Annotator, Lead, Person
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.queries import rows as query_rows
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, PairLocked
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey, keyed_digest
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

QUEUE_LENGTH = 7
"""Pairs on a desk: the one on screen and the next six, whose clips the browser loads ahead."""


def order(pairs: Sequence[tuple[PairId, int]], me: AnnotatorId, secret: bytes) -> list[PairId]:
    """Sort the pairs of a batch in a fixed order for one annotator, which does not depend on similarity.

    Nobody can compute the order without the campaign's secret. Pairs whose first two grades disagree (lowest free seat
    above 2) come first.

    Args:
        pairs: each pair with the number of its lowest free seat (place for an annotator, from 1).
        me: the annotator.
        secret: the campaign's secret.

    >>> there = [(PairId(1), 1), (PairId(2), 3), (PairId(3), 2), (PairId(4), 1)]
    >>> mine = order(there, AnnotatorId(1), b"secret")
    >>> mine[0], mine == order(there[::-1], AnnotatorId(1), b"secret")
    (2, True)
    """

    def place(pair: tuple[PairId, int]) -> tuple[bool, str]:
        return pair[1] <= max(FIRST_ROUND_SEATS), keyed_digest(secret, "desk", me, pair[0])

    return [pair for pair, _ in sorted(pairs, key=place)]


def desk(
    db: Database, person: Annotator, secret: bytes, *, now: float, lease_s: float, shown: PairKey | None = None
) -> Desk[Any]:
    """Return what the grading page shows: up to `QUEUE_LENGTH` (7) pairs reserved for this annotator, and progress.

    Reservations that the annotator has are extended, and new ones are made if pairs are missing.

    Args:
        db: the project's database, in the transaction that checked that this person may work.
        person: the annotator.
        secret: the campaign's secret, from which each annotator's order of pairs is derived.
        now: seconds since 1970.
        lease_s: for how many seconds a pair is reserved, before somebody else may get it.
        shown: the pair whose clip is on this person's screen.
    """
    me = person.annotator_id
    seats.renew(db, me, now=now, until=now + lease_s, slack_s=renewal_slack_s(lease_s))
    held_pairs = seats.held_pairs(db, me)
    today, in_all = judgements.counts(db, me, now)
    assignment = assignments.current_assignment(db, me)
    room = None if assignment is None else assignment.room(today, in_all)
    limit = QUEUE_LENGTH if room is None else min(QUEUE_LENGTH, room)
    if room is not None and held_pairs[limit:]:  # a lead has just given a smaller quota
        _give_back(db, me, [item.pair_id for item in held_pairs[limit:]], me, "over the quota", now=now)
        held_pairs = held_pairs[:limit]
    claimed: list[PairId] = []
    current_batch = assignments.last_batch(db, me)
    while len(held_pairs) + len(claimed) < limit:
        claimable = []
        if current_batch is not None:
            claimable = assignments.claimable(db, me, current_batch, assignment, now=now)
            current_batch = None  # the next batch only when this one has nothing left
        if not claimable:
            upcoming = assignments.next_batch(db, me, assignment, now=now)
            if upcoming is None:
                break
            claimable = assignments.claimable(db, me, upcoming[0], assignment, now=now, politely=upcoming[1])
        next_pairs = order(claimable, me, secret)[: limit - len(held_pairs) - len(claimed)]
        newly_claimed = [pair for pair in next_pairs if seats.claim(db, me, pair, now=now, until=now + lease_s)]
        if not newly_claimed:
            break
        claimed += newly_claimed
    if claimed:
        events.record(db, SEATS_CLAIMED, at=now, actor=me, subject=f"annotator:{me}", payload={"pairs": claimed})
    if shown is not None:
        seats.mark_shown(db, me, shown, now=now)
    if claimed:
        held_pairs = seats.held_pairs(db, me)
    waiting = 0 if held_pairs else assignments.waiting_for(db, me, assignment, now=now)
    skipped = 0 if held_pairs else pair_status.skips_left_to_others(db, me)
    batches = {item.batch_id for item in held_pairs}
    progress = {batch_id: assignments.batch_progress(db, me, batch_id, assignment, now=now) for batch_id in batches}
    state = DeskState.READY if held_pairs else _why_empty(db, me, assignment, today, in_all, waiting, now=now)

    items: list[DeskItem] = []
    for item in held_pairs:
        graded, total = progress[item.batch_id]
        nth = sum(other.batch_id == item.batch_id for other in held_pairs[: len(items) + 1])
        items.append(DeskItem(item.pair_key, item.query, graded + nth, total, item.duration_s, whole=item.whole))
    filled: Desk[Any] = Desk(state, tuple(items), None, today, in_all, waiting, skipped)
    return replace(filled, quota_today=assignment.a_day, quota_in_all=assignment.in_all) if assignment else filled


def _why_empty(
    db: Database, me: AnnotatorId, assignment: Assignment | None, today: int, in_all: int, waiting: int, *, now: float
) -> DeskState:
    """Return why there is no pair for an annotator to grade.

    A quota or an assignment is given as the reason only if there would be pairs without it.

    Args:
        db: the database.
        me: the annotator.
        assignment: the queries and quotas that a lead gave them; None if there are none.
        today: how many pairs they graded today.
        in_all: how many pairs they graded in all.
        waiting: how many pairs others hold now that this annotator may grade if they become free.
        now: seconds since 1970.
    """
    if (
        assignment is not None
        and assignment.room(today, in_all) == 0
        and (waiting or assignments.next_batch(db, me, assignment, now=now))
    ):
        return (
            DeskState.QUOTA if assignment.in_all is not None and in_all >= assignment.in_all else DeskState.QUOTA_TODAY
        )
    if waiting:
        return DeskState.WAITING
    if assignment is not None and (assignments.waiting_for(db, me, now=now) or assignments.next_batch(db, me, now=now)):
        return DeskState.ASSIGNED
    return DeskState.FINISHED if query_rows.any_batch(db) else DeskState.NOTHING


def sign_off(store: Store, person: Person, *, now: float) -> int:
    """Free the pairs that are reserved for this person and not graded; return their number."""
    with writing(store) as db:
        return _give_back(db, person.annotator_id, [None], person.annotator_id, "signed out", now=now)


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
    return _give_back(db, me, [pair for pair in outside if seats.is_held(db, me, pair)], actor, "assigned", now=now)


def _give_back(
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
    me = person.annotator_id
    with writing(store) as db:
        pair = judgements.pair_by_key(db, event.pair)
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
