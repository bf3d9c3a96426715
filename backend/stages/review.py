"""The lead's acts: open a batch, decide about a pair, block a clip that cannot be shown.

*Reads* everything before. *Writes* batches, pairs, seats, adjudications, clip faults, events.
"""

from backend.core.errors import NotAllowed, ProjectError
from backend.core.model import PairKey, Person, QueryId, Role
from backend.stages import consensus
from backend.store import agenda, events, judgements, queries, reviews, seats
from backend.store.connection import Store, writing
from backend.store.events import EventKind


def open_next_batch(store: Store, person: Person, query_id: QueryId, *, batch_size: int, now: float) -> int:
    """Open the next batch of a query; the number of new pairs.

    Raises:
        NotAllowed: not a lead.
        ProjectError: the open batches are not settled yet, or the candidate list ends here.
    """
    require_lead(person)
    with writing(store) as db:
        found = reviews.query_reviews(db, batch_size, query_id)
        if not found:
            raise ProjectError(f"there is no query {query_id} with candidates: look it up on the page Queries")
        query = found[0]
        number = query.batches_open + 1
        if not query.more_candidates:
            why = (
                f"{query.pairs - query.settled} of its pairs are not settled yet"
                if query.settled < query.pairs
                else "its candidate list ends here"
            )
            raise ProjectError(f"batch {number} of query {query_id} cannot be opened: {why}")
        pairs = queries.open_batch(db, query_id, number, batch_size, at=now, by=person.annotator_id)
        events.record(
            db,
            EventKind.BATCH_OPENED,
            at=now,
            actor=person.annotator_id,
            subject=f"query:{query_id}",
            payload={"number": number, "pairs": pairs},
        )
    return pairs


def adjudicate(store: Store, person: Person, key: PairKey, relevance: int, reason: str, *, now: float) -> None:
    """Record a lead's decision on a pair. It overrides the rule and erases nothing; the newest one counts.

    Raises:
        NotAllowed: not a lead.
        ProjectError: no such pair, no reason, or not a relevance.
    """
    require_lead(person)
    if not reason.strip():
        raise ProjectError("a decision needs a reason: write one sentence about why")
    if relevance not in range(5):
        raise ProjectError(f"{relevance} is not a relevance: choose 0 to 4")
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            raise ProjectError("there is no such pair (any more): reload the page")
        judgements.add_adjudication(db, pair.pair_id, person.annotator_id, relevance, reason.strip(), at=now)
        consensus.settle(store, pair.pair_id, person, now=now)
        events.record(
            db,
            EventKind.ADJUDICATED,
            at=now,
            actor=person.annotator_id,
            subject=f"pair:{pair.pair_id}",
            payload={"relevance": relevance, "reason": reason.strip()},
        )


def block_clip(store: Store, person: Person, key: PairKey, reason: str, *, now: float) -> None:
    """This pair's clip cannot be shown: it is never handed out again, the seats at it go back, the lead sees why."""
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        judgements.add_fault(db, pair.moment_id, reason, at=now)
        seats.release_broken(db, pair.moment_id)
        agenda.refresh_moment(db, pair.moment_id)
        events.record(
            db,
            EventKind.CLIP_REPORTED,
            at=now,
            actor=person.annotator_id,
            subject=f"moment:{pair.moment_id}",
            payload={"reason": reason},
        )


def restore_clip(store: Store, person: Person, key: PairKey, *, now: float) -> None:
    """The clip may be shown again (the video was repaired, or the report was a mistake).

    Raises:
        NotAllowed: not a lead.
    """
    require_lead(person)
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        judgements.remove_fault(db, pair.moment_id)
        agenda.refresh_moment(db, pair.moment_id)
        events.record(
            db, EventKind.CLIP_RESTORED, at=now, actor=person.annotator_id, subject=f"moment:{pair.moment_id}"
        )


def require_lead(person: Person) -> None:
    """Refuse anybody but a lead."""
    if person.role is not Role.LEAD:
        raise NotAllowed(f"only leads may do this; {person.name} is signed in as {person.role}")
