"""Clips that cannot be shown: their pairs are not handed out until a lead says so.

*Reads* pairs. *Writes* clip faults, seats, events.
"""

from backend.campaign.candidates.rows import agenda
from backend.campaign.judging.rows import judgements, seats
from backend.campaign.nouns import Annotator, Lead
from backend.ground.ids import PairKey
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind


def block_clip(
    store: Store,
    person: Lead | Annotator,
    key: PairKey,
    reason: str,
    *,
    found_by: str = judgements.BY_PERSON,
    now: float,
) -> None:
    """This pair's clip cannot be shown: it is not handed out again, the seats at it go back, the lead sees why.

    What its file showed (`found_by`) goes once the file is well; what a person said stays until a lead lifts it.
    """
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        judgements.add_fault(db, pair.moment_id, reason, at=now, found_by=found_by)
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


def restore_clip(store: Store, lead: Lead, key: PairKey, *, now: float) -> None:
    """The clip may be shown again (the video was repaired, or the report was a mistake)."""
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        judgements.remove_fault(db, pair.moment_id)
        agenda.refresh_moment(db, pair.moment_id)
        events.record(db, EventKind.CLIP_RESTORED, at=now, actor=lead.annotator_id, subject=f"moment:{pair.moment_id}")
