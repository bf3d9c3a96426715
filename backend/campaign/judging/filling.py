"""Choose the next pairs for an annotator, reserve them, and say what the grading page shows of them.

A seat is a place for one annotator at a pair, reserved for a limited time. The rules of choosing are these. The
candidates of a query stay together, in groups called batches. Inside a batch, each annotator has an order of their own,
at random and never by similarity. An annotator begins a new batch only when the current one has nothing left for them.
Batches with a pair that needs only its last grade come first, and batches in which two others are grading come last.
Nobody gets a pair twice. People with an assignment get only pairs of its queries, up to its quotas. Like everybody
else, they also get gold questions (hidden pairs with known grades).

*Reads* batches, pairs, seats, pauses. *Writes* seats, events. What it reads before it reserves pairs is one round trip
to a database server, and so is what it reads afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.campaign.judging.grades import LastGrade
from backend.campaign.judging.model import Assignment, Desk, DeskItem, DeskState
from backend.campaign.judging.queue import give_back
from backend.campaign.judging.rows import assignments, judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.judging.rules import renewal_slack_s
from backend.campaign.nouns import FIRST_ROUND_SEATS, Annotator
from backend.campaign.selection.queries import rows as query_rows
from backend.core.ids import AnnotatorId, BatchId, PairId, PairKey, keyed_digest
from backend.store.connection import Database, Select, Store, fetch_one, reading

QUEUE_LENGTH = 7
"""Pairs on a desk that was just filled: the one on screen and the next six, whose clips the browser loads ahead."""
FEWEST = 5
"""A desk with fewer pairs is filled again. So most grades need one transaction, and four clips are loaded ahead."""


def choose(pairs: Sequence[tuple[PairId, int]], most: int, me: AnnotatorId, secret: bytes) -> list[PairId]:
    """Choose at most `most` pairs of a batch for one annotator, and return them in the order in which they come.

    Pairs whose first two grades disagree (lowest free seat above 2) are chosen first. The order does not tell which
    these are, nor how similar a pair is. It is fixed for each annotator, and nobody can compute it without the
    campaign's secret.

    Args:
        pairs: each pair with the number of its lowest free seat (place for an annotator, from 1).
        most: the most pairs.
        me: the annotator.
        secret: the campaign's secret.

    >>> there = [(PairId(1), 1), (PairId(2), 3), (PairId(3), 2), (PairId(4), 1)]
    >>> mine = choose(there, 2, AnnotatorId(1), b"secret")
    >>> PairId(2) in mine, mine == choose(there[::-1], 2, AnnotatorId(1), b"secret")
    (True, True)
    """
    places = {pair: keyed_digest(secret, "desk", me, pair) for pair, _ in pairs}
    chosen = sorted(pairs, key=lambda pair: (pair[1] <= max(FIRST_ROUND_SEATS), places[pair[0]]))[:most]
    return sorted((pair for pair, _ in chosen), key=places.__getitem__)


def _most(assignment: Assignment | None, today: int, in_all: int) -> int:
    """Return the most pairs that an annotator may hold, who has graded so many pairs today and in all."""
    room = None if assignment is None else assignment.room(today, in_all)
    return QUEUE_LENGTH if room is None else min(QUEUE_LENGTH, room)


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
        batch, held, _ = place.batches.result
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
            self.place.batches.result.held <= self._refill.held
            and self.place.assignment.result == self._refill.assignment
        )

    def fill(self, db: Database, secret: bytes, *, gold: bool, shown: PairKey | None) -> "Filled":
        """Extend an annotator's reservations, and reserve pairs of one batch until they hold `QUEUE_LENGTH` (7).

        Args:
            db: the project's database, in the transaction that read these facts and checked that the person may work.
            secret: the campaign's secret, from which each annotator's order of pairs is derived.
            gold: whether gold questions (hidden pairs with known grades) are mixed in.
            shown: the pair whose clip is on this person's screen.
        """
        me, now, held = self._me, self._now, self._held.result
        if self._refill.renews and self._due.result:
            seats.renew(db, me, now=now, until=self._until, slack_s=self._slack_s)
        assignment = self._refill.assignment
        limit = _most(assignment, *self._counts.result)
        if held[limit:]:  # a lead has just given a smaller quota
            give_back(db, me, [item.pair_id for item in held[limit:]], me, "over the quota", now=now)
            held = held[:limit]
        missing, taken = limit - len(held), list[PairId]()
        if missing and self._free is not None:
            taken = choose(self._free.result, missing, me, secret)
        if taken:
            seats.claim_all(db, me, taken, self.claims.result, gold=gold, now=now, until=self._until)
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
    """What the grading page shows of the pairs that an annotator holds, and of the one that they graded last."""

    def __init__(self, person: Annotator, filled: Filled, *, just_graded: bool = False, now: float) -> None:
        """Prepare the SELECTs; `just_graded` says that the last grade was stored a moment ago."""
        me, self._filled, self._now = person.annotator_id, filled, now
        self._me = me
        self._paused = assignments.pause_select(me)
        self._held = seats.held_select(me)
        self._counts = judgements.counts_select(me, now)
        self._last = LastGrade(person, *filled.last, is_new=just_graded, now=now) if filled.last else None
        batches = filled.batches | {self._last.pair.batch_id} if self._last else filled.batches
        self._progress = assignments.progress_select(me, sorted(batches), filled.assignment, now=now)

    @property
    def selects(self) -> tuple[Select[Any], ...]:
        """The SELECTs."""
        last = self._last.selects if self._last else ()
        return self._paused, self._held, self._counts, self._progress, *last

    def needs_filling(self, shown: PairKey | None, lease_s: float) -> bool:
        """Return whether pairs have to be reserved, kept for longer or given back, or `shown` noted as on screen.

        Pairs are reserved for `lease_s` seconds.
        """
        held, most = self._held.result, _most(self._filled.assignment, *self._counts.result)
        if not min(FEWEST, most) <= len(held) <= most:
            return True
        until, slack_s = self._now + lease_s, renewal_slack_s(lease_s)
        return any(
            not until - slack_s <= item.until <= until
            or item.batch_id not in self._filled.batches
            or (item.pair_key == shown and not item.on_screen)
            for item in held
        )

    def desk(self, store: Store) -> Desk[Any]:
        """Return the desk: the annotator's pairs in their order, or the reason why there are none."""
        me, now, assignment = self._me, self._now, self._filled.assignment
        held, progress, last = self._held.result, self._progress.result, self._last
        today, in_all = self._counts.result
        if self._paused.result:
            return Desk(DeskState.PAUSED, (), None, today, in_all)
        state, waiting, skipped = DeskState.READY, 0, 0
        if not held:
            with reading(store) as db:
                waiting = assignments.waiting_for(db, me, assignment, now=now)
                skipped = pair_status.skips_left_to_others(db, me)
                state = _why_empty(db, me, assignment, today, in_all, waiting, now=now)
        if more := {item.batch_id for item in held} - progress.keys():  # taken in another window since
            rest = fetch_one(store.db, assignments.progress_select(me, more, assignment, now=now))
            progress = progress | rest
        items: list[DeskItem] = []
        for item in held:
            graded, total = progress[item.batch_id]
            nth = sum(other.batch_id == item.batch_id for other in held[: len(items) + 1])
            items.append(DeskItem(item.pair_key, item.query, graded + nth, total, item.duration_s, whole=item.whole))
        previous = last.item(progress.get(last.pair.batch_id, (0, 0))) if last else None
        filled: Desk[Any] = Desk(state, tuple(items), previous, today, in_all, waiting, skipped)
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
