"""The lead's decision about a pair. Those about batches stand in `backend.campaign.selection.batches`.

*Reads* everything before. *Writes* adjudications, consensus, seats, events.
"""

from backend.campaign.judging import consensus
from backend.campaign.judging.model import ActKind
from backend.campaign.judging.rows import rulings
from backend.campaign.nouns import Lead
from backend.campaign.review import ruling
from backend.campaign.setup.project import rows as facts
from backend.core.errors import ProjectError
from backend.core.ids import PairKey
from backend.core.saying import said
from backend.core.typed_text import is_visible
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
        seen: how many acts of leads about the pair this lead had seen: who did not see the newest one does not replace
            it.
        now: seconds since 1970.

    Raises:
        Overtaken: there is an act that the lead had not seen. The same one sent again changes nothing.
        ProjectError: no such pair, no reason, or not a relevance.
    """
    reason = reason.strip()
    if not is_visible(reason):
        raise ProjectError(said("a decision needs a reason: write one sentence about why"))
    with writing(store) as db:
        scale = facts.scale(db)
        if relevance not in scale:
            raise ProjectError(
                said("{relevance} is not a relevance: choose {words}", relevance=relevance, words=scale.words)
            )
        pair = ruling.pair_of(db, key)
        done = ruling.already(db, pair, lead, ActKind.DECIDED, reason, seen=seen, now=now, relevance=relevance)
        if done:
            return
        rulings.adjudicate(db, pair.pair_id, lead.annotator_id, relevance, reason, at=now)
        consensus.settle(db, pair.pair_id, lead, now=now)
        events.record(
            db,
            EventKind.ADJUDICATED,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{pair.pair_id}",
            payload={"relevance": relevance, "reason": reason},
        )
