"""The lead's acts: open a batch, decide about a pair.

*Reads* everything before. *Writes* batches, pairs, seats, adjudications, events.
"""

from backend.campaign.candidates.rows import lists
from backend.campaign.judging import consensus
from backend.campaign.judging.rows import judgements
from backend.campaign.nouns import Lead
from backend.campaign.project import rows as facts
from backend.campaign.review.model import GivenDecision
from backend.campaign.review.rows import reviews
from backend.ground.errors import Overtaken, ProjectError
from backend.ground.ids import AnnotatorId, PairKey, QueryId
from backend.ground.words import ago
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind


def open_next_batch(store: Store, lead: Lead, query_id: QueryId, *, number: int, now: float) -> int:
    """Open a batch of a query, which the lead was shown as the next; the number of new pairs.

    Raises:
        Overtaken: it is open already.
        ProjectError: the open batches are not settled yet, or the candidate list ends here.
    """
    with writing(store) as db:
        found = reviews.query_reviews(db, query_id)
        if not found:
            raise ProjectError(f"there is no query {query_id} with candidates: look it up on the page Queries")
        query = found[0]
        if number <= query.batches_open:
            name, at = reviews.who_opened(db, query_id, number)
            raise Overtaken(
                f"{name or 'A command'} opened batch {number} of this query {ago(now - at)}: "
                "its pairs are with the annotators already"
            )
        if number > query.batches_open + 1 or not query.more_candidates:
            why = (
                f"batch {query.batches_open + 1} comes first"
                if number > query.batches_open + 1
                else f"{query.pairs - query.settled} of its pairs are not settled yet"
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


def adjudicate(store: Store, lead: Lead, key: PairKey, relevance: int, reason: str, *, seen: int, now: float) -> None:
    """Record a lead's decision on a pair. It overrides the rule and erases nothing; the newest one counts.

    Args:
        store: the project's store.
        lead: who decides.
        key: the pair.
        relevance: what it shall be.
        reason: why, in the lead's words.
        seen: how many decisions the lead had seen: who did not see the newest one does not replace it.
        now: seconds since 1970.

    Raises:
        Overtaken: there is a decision that the lead had not seen. The same one sent again changes nothing.
        ProjectError: no such pair, no reason, or not a relevance.
    """
    reason = reason.strip()
    if not reason:
        raise ProjectError("a decision needs a reason: write one sentence about why")
    with writing(store) as db:
        scale = facts.scale(db)
        if relevance not in scale:
            raise ProjectError(f"{relevance} is not a relevance: choose {scale.words}")
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            raise ProjectError("there is no such pair (any more): reload the page")
        if _overtaken(reviews.newest_decision(db, pair.pair_id), lead, (relevance, reason), seen, now=now):
            return
        judgements.add_adjudication(db, pair.pair_id, lead.annotator_id, relevance, reason, at=now)
        consensus.settle(store, pair.pair_id, lead, now=now)
        events.record(
            db,
            EventKind.ADJUDICATED,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{pair.pair_id}",
            payload={"relevance": relevance, "reason": reason},
        )


def _overtaken(
    newest: tuple[int, AnnotatorId, GivenDecision] | None, lead: Lead, wanted: tuple[int, str], seen: int, *, now: float
) -> bool:
    """Whether this very decision stands already; raises where another one does that the lead had not seen."""
    there = newest[0] if newest else 0
    if there < seen:
        raise ProjectError("the decisions that this page shows are not there (any more): reload the page")
    if newest is None or there == seen:
        return False
    _, by, made = newest
    if (there, by, (made.relevance, made.reason)) == (seen + 1, lead.annotator_id, wanted):
        return True
    who = "You" if by == lead.annotator_id else made.lead
    raise Overtaken(
        f"{who} decided this pair {ago(now - made.at)}: relevance {made.relevance} (“{made.reason}”). "
        "Decide again if yours shall take its place; both stay on record"
    )
