"""The lead's acts: open a batch, decide about a pair.

*Reads* everything before. *Writes* batches, pairs, seats, adjudications, events.
"""

from backend.campaign.candidates.rows import lists
from backend.campaign.judging import consensus
from backend.campaign.judging.rows import judgements
from backend.campaign.nouns import Lead
from backend.campaign.project import rows as facts
from backend.campaign.review.rows import reviews
from backend.ground.errors import ProjectError
from backend.ground.ids import PairKey, QueryId
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind


def open_next_batch(store: Store, lead: Lead, query_id: QueryId, *, now: float) -> int:
    """Open the next batch of a query; the number of new pairs.

    Raises:
        ProjectError: the open batches are not settled yet, or the candidate list ends here.
    """
    with writing(store) as db:
        found = reviews.query_reviews(db, query_id)
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
        pairs = lists.open_batch(db, facts.campaign(db), query_id, number, at=now, by=lead.annotator_id)
        events.record(
            db,
            EventKind.BATCH_OPENED,
            at=now,
            actor=lead.annotator_id,
            subject=f"query:{query_id}",
            payload={"number": number, "pairs": pairs},
        )
    return pairs


def adjudicate(store: Store, lead: Lead, key: PairKey, relevance: int, reason: str, *, now: float) -> None:
    """Record a lead's decision on a pair. It overrides the rule and erases nothing; the newest one counts.

    Raises:
        ProjectError: no such pair, no reason, or not a relevance.
    """
    if not reason.strip():
        raise ProjectError("a decision needs a reason: write one sentence about why")
    with writing(store) as db:
        scale = facts.scale(db)
        if relevance not in scale:
            raise ProjectError(f"{relevance} is not a relevance: choose {scale.words}")
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            raise ProjectError("there is no such pair (any more): reload the page")
        judgements.add_adjudication(db, pair.pair_id, lead.annotator_id, relevance, reason.strip(), at=now)
        consensus.settle(store, pair.pair_id, lead, now=now)
        events.record(
            db,
            EventKind.ADJUDICATED,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{pair.pair_id}",
            payload={"relevance": relevance, "reason": reason.strip()},
        )
