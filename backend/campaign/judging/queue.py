"""Fill an annotator's queue, and remove pairs that are skipped or cannot be shown.

*Reads* batches, pairs, seats, pauses. *Writes* seats, skips, clip faults, events.

The rules of filling: the candidates of a query stay together; inside a batch every annotator has an order of their own
(seeded, never similarity order); a new batch is begun only when the current one has nothing left for this
person; batches nearest to completion come first, those at which two others sit last; nobody meets a pair twice.
Whom a lead gave an assignment gets pairs of its queries only, and no more than its quotas; gold comes as to everybody.

Of a skipped pair the seat goes back, nothing counts as a grade, and leads read the reason. A row of `skip` is also the
record of a report that a clip is broken. A moment is blocked by its file, by a lead, or by the reports of two people;
never by one annotator. Its pairs are not handed out until a lead restores it.
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
from backend.core import days
from backend.core.days import ago
from backend.core.errors import Overtaken, PairLocked
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey, keyed_digest
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

QUEUE_LENGTH = 7
"""The pair on show and the next six, whose clips the browser loads ahead."""


def order(pairs: Sequence[tuple[PairId, int]], me: AnnotatorId, secret: bytes) -> list[PairId]:
    """The order in which one person meets the pairs of a batch: fixed, personal, and blind to similarity.

    Nobody can compute it without the campaign's secret. Only disagreements that wait to be settled (lowest free seat 3
    or 4) come before the others.

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
    """Fill this person's desk: renew what they hold, claim more up to `QUEUE_LENGTH`, and say how far they are.

    Args:
        db: the project's database, in the transaction that has found this person free to work.
        person: whose desk.
        secret: the campaign's, which orders the pairs.
        now: seconds since 1970.
        lease_s: how long a seat is kept without a sign of life.
        shown: the pair whose clip is on this person's screen.
    """
    me = person.annotator_id
    seats.renew(db, me, now=now, until=now + lease_s, slack_s=renewal_slack_s(lease_s))
    held = seats.held(db, me)
    today, in_all = judgements.counts(db, me, days.midnight(now))
    mine = assignments.standing(db, me)
    room = None if mine is None else mine.room(today, in_all)
    most = QUEUE_LENGTH if room is None else min(QUEUE_LENGTH, room)
    if room is not None and held[most:]:  # a lead has just given a smaller quota
        _give_back(db, me, [item.pair_id for item in held[most:]], me, "over the quota", now=now)
        held = held[:most]
    claimed: list[PairId] = []
    in_hand = assignments.last_batch(db, me)
    while len(held) + len(claimed) < most:
        more = []
        if in_hand is not None:
            more = assignments.claimable(db, me, in_hand, mine, now=now)
            in_hand = None  # only when it has nothing left, the next one
        if not more:
            following = assignments.next_batch(db, me, mine, now=now)
            if following is None:
                break
            more = assignments.claimable(db, me, following[0], mine, now=now, politely=following[1])
        wanted = order(more, me, secret)[: most - len(held) - len(claimed)]
        got = [pair for pair in wanted if seats.claim(db, me, pair, now=now, until=now + lease_s)]
        if not got:
            break
        claimed += got
    if claimed:
        events.record(db, SEATS_CLAIMED, at=now, actor=me, subject=f"annotator:{me}", payload={"pairs": claimed})
    if shown is not None:
        seats.mark_shown(db, me, shown, now=now)
    if claimed:
        held = seats.held(db, me)
    waiting = 0 if held else assignments.waiting_for(db, me, mine, now=now)
    skipped = 0 if held else pair_status.skips_left_to_others(db, me)
    batches = {item.batch_id for item in held}
    progress = {batch_id: assignments.batch_progress(db, me, batch_id, mine, now=now) for batch_id in batches}
    state = DeskState.READY if held else _why_empty(db, me, mine, today, in_all, waiting, now=now)

    items: list[DeskItem] = []
    for item in held:
        graded, total = progress[item.batch_id]
        nth = sum(other.batch_id == item.batch_id for other in held[: len(items) + 1])
        items.append(DeskItem(item.pair_key, item.query, graded + nth, total, item.duration_s, whole=item.whole))
    found: Desk[Any] = Desk(state, tuple(items), None, today, in_all, waiting, skipped)
    return replace(found, quota_today=mine.a_day, quota_in_all=mine.in_all) if mine else found


def _why_empty(
    db: Database, me: AnnotatorId, mine: Assignment | None, today: int, in_all: int, waiting: int, *, now: float
) -> DeskState:
    """Why somebody is handed nothing. A quota or an assignment is a reason only while there is work beyond it."""
    if (
        mine is not None
        and mine.room(today, in_all) == 0
        and (waiting or assignments.next_batch(db, me, mine, now=now))
    ):
        return DeskState.QUOTA if mine.in_all is not None and in_all >= mine.in_all else DeskState.QUOTA_TODAY
    if waiting:
        return DeskState.WAITING
    if mine is not None and (assignments.waiting_for(db, me, now=now) or assignments.next_batch(db, me, now=now)):
        return DeskState.ASSIGNED
    return DeskState.FINISHED if query_rows.any_batch(db) else DeskState.NOTHING


def sign_off(store: Store, person: Person, *, now: float) -> int:
    """Give back what this person holds and has not graded; how many seats that were."""
    with writing(store) as db:
        return _give_back(db, person.annotator_id, [None], person.annotator_id, "signed out", now=now)


def give_back_others(db: Database, me: AnnotatorId, mine: Assignment | None, actor: AnnotatorId, *, now: float) -> int:
    """Give back what somebody holds of queries that they are not assigned to (any more), gold excepted; how much."""
    other = [item.pair_id for item in seats.held(db, me) if not assignments.holds(db, mine, item.batch_id)]
    return _give_back(db, me, [pair for pair in other if seats.is_held(db, me, pair)], actor, "assigned", now=now)


def _give_back(
    db: Database, me: AnnotatorId, pairs: Sequence[PairId | None], actor: AnnotatorId, why: str, *, now: float
) -> int:
    """Free this person's places at these pairs (None: at all), with the event that tells of it; how many."""
    freed = [freed for pair in pairs for freed in seats.release(db, me, pair)]
    if freed:
        payload = {"pairs": freed, "why": why}
        subject = f"annotator:{me}"
        events.record(db, SEATS_RETURNED, at=now, actor=actor, subject=subject, payload=payload)
    return len(freed)


MOST_A_MINUTE = 30
"""Skips and reports of one person. Offline, a browser holds seven pairs, so an honest page sends seven at once."""
MINUTE_S = 60.0
REPORTS_TO_BLOCK = 2
"""So many people have to report a moment before nobody gets it."""
LONGEST_REASON = 200

GRADED = said("you have graded this pair already; press another grade to correct it")
USED = said("this key press was already saved for another pair or person: skip the pair again")
GONE = said("this pair is not on your desk any more")
PAUSED = said("your work is paused")
TOO_MANY = said("you have skipped {most} pairs within a minute: wait a minute, then skip this one", most=MOST_A_MINUTE)


def record_skip(store: Store, person: Annotator, event: SkipEvent, *, now: float) -> Receipt:
    """Take a skip of a pair at which this person holds a seat; sending the same one again changes nothing.

    The pair is not offered to this person again, and takes no grade of theirs, unless a lead offers it again.
    """
    me = person.annotator_id
    with writing(store) as db:
        pair = judgements.pair_by_key(db, event.pair)
        if pair is None:
            return Receipt(event.key, ReceiptStatus.REFUSED, said("this pair is not in the project (any more)"))
        owner = pair_status.skip_owner(db, event.key)
        if owner is not None:
            mine = owner == (pair.pair_id, me)
            return Receipt(event.key, *((ReceiptStatus.SAVED,) if mine else (ReceiptStatus.REFUSED, USED)))
        seat = seats.seat_of(db, pair.pair_id, me)
        why = GRADED if seat is not None and seat.judged else GONE if seat is None else None
        if why := skip_refusal(db, me, now=now) or why:
            return Receipt(event.key, ReceiptStatus.REFUSED, why)
        take_skip(db, person, pair, event, now=now)
    return Receipt(event.key, ReceiptStatus.SAVED)


def skip_refusal(db: Database, me: AnnotatorId, *, now: float) -> str | None:
    """Why this person may skip nothing and report nothing just now, in words for them; None if they may."""
    if assignments.is_paused(db, me):
        return PAUSED
    return TOO_MANY if pair_status.recent_skips(db, me, since=now - MINUTE_S, now=now) >= MOST_A_MINUTE else None


def take_skip(db: Database, person: Annotator, pair: PairRow, event: SkipEvent, *, now: float) -> None:
    """Store a skip and free the seat. `REPORTS_TO_BLOCK` people who report a moment's clip block the moment."""
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
    """Undo all skips of a person, or only their reports of broken clips.

    They may be offered the pairs again, and clips that were blocked by people's reports, of whom too few are left, are
    handed out again. What a lead or a file said about a clip stays.

    Raises:
        Overtaken: no skip of this person stands (any more).
    """
    with writing(project.store) as db:
        count, moments = pair_status.lift_all_skips(db, annotator_id, reports_only=reports_only, at=now)
        if not count:
            raise Overtaken(said("nothing is left to undo: somebody else undid it already"))
        clips = free_reported(db, moments, fewest=REPORTS_TO_BLOCK)
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
    """Offer a pair again to everybody who skipped it; return how many people those are.

    Raises:
        Overtaken: somebody offered it again already.
        PairLocked: the pair is settled, so nobody could get it.
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
    """Return the clips that one person reported as broken and that are still shown to others."""
    with reading(project.store) as db:
        return pair_status.reported_clips(db)


@lead_only
def block_clip(project: Project, lead: Lead, key: PairKey, reason: str, *, now: float) -> None:
    """Block a clip that a lead has looked at: nobody gets it until a lead restores it."""
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
    """Hand a moment out no more: the seats at its pairs go back, and leads read why.

    What its file showed (`found_by`) goes once the file is well; what a person said stays until a lead lifts it.
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


def free_reported(db: Database, moments: Sequence[MomentId], *, fewest: int) -> int:
    """Hand out again those of some moments that only annotators' reports blocked, and fewer than `fewest` still do."""
    freed = 0
    for moment_id in moments:
        if pair_status.reporters(db, moment_id) < fewest and pair_status.is_blocked_by_reports(db, moment_id):
            pair_status.remove_fault(db, moment_id)
            candidates_rows.refresh_agenda_of_moment(db, moment_id)
            freed += 1
    return freed


@lead_only
def restore_clip(project: Project, lead: Lead, key: PairKey, *, now: float) -> None:
    """Show a blocked clip again (the video was repaired, or the report was a mistake)."""
    with writing(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        pair_status.remove_fault(db, pair.moment_id)
        candidates_rows.refresh_agenda_of_moment(db, pair.moment_id)
        events.record(db, CLIP_RESTORED, at=now, actor=lead.annotator_id, subject=f"moment:{pair.moment_id}")
