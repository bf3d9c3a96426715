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
from dataclasses import dataclass, replace
from typing import Any

from backend.campaign.judging.model import (
    CLIP_REPORTED,
    CLIP_RESTORED,
    OFFERED_AGAIN,
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
from backend.core.ids import AnnotatorId, BatchId, MomentId, PairId, PairKey, keyed_digest
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, writing
from backend.store.engine import Select

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


class Place:
    """Where an annotator works, read before anything is locked; it tells what to lock.

    A batch is a group of pairs of one query. An assignment is the queries that a lead gave an annotator.
    """

    def __init__(self, me: AnnotatorId) -> None:
        self.batches = seats.places_select(me)
        self.assignment = assignments.assignment_select(me)

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        """The SELECTs."""
        return self.batches, self.assignment


@dataclass(frozen=True, slots=True)
class Refill:
    """How to fill an annotator's desk, in one transaction.

    Attributes:
        batch: the batch from which to take pairs; None if they never took one.
        held: the batches of the pairs that they hold.
        assignment: the queries that a lead gave them; None if they may grade any pair.
        politely: whether to leave the first round in the batch to two others who are already grading there.
        renews: whether to extend the reservations that they have. The batches in `held` must be locked for that.
    """

    batch: BatchId | None
    held: frozenset[BatchId]
    assignment: Assignment | None
    politely: bool = True
    renews: bool = True

    @staticmethod
    def at(place: Place) -> "Refill":
        """Return how to go on where an annotator works."""
        batch, held = place.batches.result
        return Refill(batch, held, place.assignment.result)

    @property
    def locks(self) -> frozenset[BatchId]:
        """The batches to lock."""
        held = self.held if self.renews else frozenset[BatchId]()
        return held if self.batch is None else held | {self.batch}


class DeskFacts:
    """What decides which pairs an annotator gets next, read in the transaction that reserves them."""

    def __init__(self, person: Annotator, refill: Refill, *, now: float, lease_s: float) -> None:
        me = person.annotator_id
        self._me, self._refill, self._now, self._until = me, refill, now, now + lease_s
        self._slack_s = renewal_slack_s(lease_s)
        self.place = Place(me)
        self.last = judgements.last_graded_select(me)
        self.claims = seats.claims_select(me)
        self._due = seats.due_select(me, until=self._until, slack_s=self._slack_s)
        self._held = seats.held_select(me)
        self._counts = judgements.counts_select(me, now)
        self._free = (
            None
            if refill.batch is None
            else assignments.claimable_select(me, refill.batch, refill.assignment, now=now, politely=refill.politely)
        )

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        """The SELECTs."""
        free = () if self._free is None else (self._free,)
        return *self.place.selects, self.last, self.claims, self._due, self._held, self._counts, *free

    @property
    def fits(self) -> bool:
        """Whether what was locked is what the annotator's pairs need now; if not, the desk has to be filled anew."""
        return (
            self.place.batches.result[1] <= self._refill.held
            and self.place.assignment.result == self._refill.assignment
        )

    def fill(self, db: Database, secret: bytes, *, shown: PairKey | None) -> "Filled":
        """Extend an annotator's reservations, and reserve pairs of one batch until they hold `QUEUE_LENGTH` (7).

        Args:
            db: the project's database, in the transaction that read these facts and checked that the person may work.
            secret: the campaign's secret, from which each annotator's order of pairs is derived.
            shown: the pair whose clip is on this person's screen.
        """
        me, now, held = self._me, self._now, self._held.result
        if self._refill.renews and self._due.result:
            seats.renew(db, me, now=now, until=self._until, slack_s=self._slack_s)
        assignment = self._refill.assignment
        room = None if assignment is None else assignment.room(*self._counts.result)
        limit = QUEUE_LENGTH if room is None else min(QUEUE_LENGTH, room)
        if held[limit:]:  # a lead has just given a smaller quota
            _give_back(db, me, [item.pair_id for item in held[limit:]], me, "over the quota", now=now)
            held = held[:limit]
        missing, taken = limit - len(held), list[PairId]()
        if missing and self._free is not None:
            taken = order(self._free.result, me, secret)[:missing]
        if taken:
            seats.claim_all(db, me, taken, self.claims.result, now=now, until=self._until)
        if shown is not None:
            seats.mark_shown(db, me, shown, now=now)
        batches = {item.batch_id for item in held} | ({self._refill.batch} if taken and self._refill.batch else set())
        return Filled(missing - len(taken), frozenset(batches), assignment, self.last.result)


@dataclass(frozen=True, slots=True)
class Filled:
    """What an annotator holds after their desk was filled.

    Attributes:
        missing: how many more pairs they should have.
        batches: the batches of their pairs.
        assignment: the queries that a lead gave them; None if they may grade any pair.
        last: the pair that they graded last, with the grade; None if there is none.
    """

    missing: int
    batches: frozenset[BatchId]
    assignment: Assignment | None
    last: tuple[PairRow, int] | None


def next_refill(store: Store, person: Annotator, filled: Filled, *, now: float) -> Refill | None:
    """Return how to fill an annotator's desk further, from another batch; None if it is full or nothing is left."""
    if not filled.missing:
        return None
    upcoming = assignments.next_batch(store.db, person.annotator_id, filled.assignment, now=now)
    if upcoming is None:
        return None
    return Refill(upcoming[0], filled.batches, filled.assignment, politely=upcoming[1], renews=False)


class DeskView:
    """What the grading page shows of the pairs that an annotator holds, with progress."""

    def __init__(self, person: Annotator, filled: Filled, *, now: float) -> None:
        me, self._filled, self._now = person.annotator_id, filled, now
        self._me = me
        self._paused = assignments.pause_select(me)
        self._held = seats.held_select(me)
        self._counts = judgements.counts_select(me, now)
        self._progress = {
            batch: assignments.progress_select(me, batch, filled.assignment, now=now)
            for batch in sorted(filled.batches)
        }

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        """The SELECTs."""
        return self._paused, self._held, self._counts, *self._progress.values()

    def desk(self, store: Store) -> Desk[Any]:
        """Return the desk: the annotator's pairs in their order, or the reason why there are none."""
        me, now, assignment = self._me, self._now, self._filled.assignment
        held, db = self._held.result, store.db
        today, in_all = self._counts.result
        if self._paused.result:
            return Desk(DeskState.PAUSED, (), None, today, in_all)
        state, waiting, skipped = DeskState.READY, 0, 0
        if not held:
            with reading(store) as db:
                waiting = assignments.waiting_for(db, me, assignment, now=now)
                skipped = pair_status.skips_left_to_others(db, me)
                state = _why_empty(db, me, assignment, today, in_all, waiting, now=now)
        progress = {batch_id: self._progress_in(db, batch_id) for batch_id in {item.batch_id for item in held}}
        items: list[DeskItem] = []
        for item in held:
            graded, total = progress[item.batch_id]
            nth = sum(other.batch_id == item.batch_id for other in held[: len(items) + 1])
            items.append(DeskItem(item.pair_key, item.query, graded + nth, total, item.duration_s, whole=item.whole))
        filled: Desk[Any] = Desk(state, tuple(items), None, today, in_all, waiting, skipped)
        return replace(filled, quota_today=assignment.a_day, quota_in_all=assignment.in_all) if assignment else filled

    def _progress_in(self, db: Database, batch_id: BatchId) -> tuple[int, int]:
        if batch_id in self._progress:
            return self._progress[batch_id].result
        return assignments.batch_progress(db, self._me, batch_id, self._filled.assignment, now=self._now)


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
