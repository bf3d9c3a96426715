"""Fill an annotator's queue: claim, renew and give back seats.

*Reads* batches, pairs, seats. *Writes* seats and events.

The rules: the candidates of a query stay together; inside a batch every annotator has an order of their own
(seeded, never similarity order); a new batch is begun only when the current one has nothing left for this
person; batches nearest to completion come first, those at which two others sit last; nobody meets a pair twice.
Whom a lead gave an assignment gets pairs of its queries only, and no more than its quotas; gold comes as to everybody.
"""

from collections.abc import Sequence
from typing import Any

from backend.campaign.judging.model import SEATS_CLAIMED, Assignment, Desk, DeskItem, DeskState
from backend.campaign.judging.rows import assignments, judgements, seats, skips
from backend.campaign.judging.rules import renewal_slack_s
from backend.campaign.nouns import FIRST_ROUND_SEATS, SEATS_RETURNED, Annotator, Person
from backend.campaign.selection.queries import rows as query_rows
from backend.core import days
from backend.core.ids import AnnotatorId, PairId, PairKey, keyed_digest
from backend.store import events
from backend.store.connection import Database, Store, writing

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
    skipped = 0 if held else skips.left_to_others(db, me)
    batches = {item.batch_id for item in held}
    progress = {batch_id: assignments.batch_progress(db, me, batch_id, mine, now=now) for batch_id in batches}
    state = DeskState.READY if held else _why_empty(db, me, mine, today, in_all, waiting, now=now)

    items: list[DeskItem] = []
    for item in held:
        graded, total = progress[item.batch_id]
        nth = sum(other.batch_id == item.batch_id for other in held[: len(items) + 1])
        items.append(DeskItem(item.pair_key, item.query, graded + nth, total, item.duration_s, whole=item.whole))
    return Desk(state, tuple(items), None, today, in_all, waiting, skipped)


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
