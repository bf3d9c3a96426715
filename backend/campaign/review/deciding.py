"""The lead's decision about a pair. Those about batches stand in `backend.campaign.batches`.

*Reads* everything before. *Writes* adjudications, consensus, seats, events.
"""

from backend.campaign.judging import consensus
from backend.campaign.judging.rows import judgements
from backend.campaign.nouns import Lead
from backend.campaign.project import rows as facts
from backend.campaign.review.model import GivenDecision
from backend.campaign.review.rows import reviews
from backend.ground.errors import Overtaken, ProjectError
from backend.ground.ids import AnnotatorId, PairKey
from backend.ground.words import ago
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind


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
