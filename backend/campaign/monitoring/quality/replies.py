"""Replies to a person's own notes. They reach the person once the pair is settled for good, and nobody else ever.

*Reads* notes, replies, verdicts. *Writes* which replies were read.
"""

from backend.campaign.judging.model import CORRECTION_S
from backend.campaign.monitoring.quality.model import MyReply
from backend.campaign.monitoring.quality.rows import replies
from backend.campaign.nouns import Annotator
from backend.store.connection import Store, reading, writing


def told(store: Store, me: Annotator, *, now: float) -> list[MyReply]:
    """What has reached this person, unread first."""
    with reading(store) as db:
        return replies.told(db, me.annotator_id, final_before=now - CORRECTION_S)


def unread(store: Store, me: Annotator, *, now: float) -> int:
    """How many of these they have not read."""
    with reading(store) as db:
        return replies.unread(db, me.annotator_id, final_before=now - CORRECTION_S)


def mark_read(store: Store, me: Annotator, *, now: float) -> None:
    """They have read all that has reached them."""
    with writing(store) as db:
        replies.mark_read(db, me.annotator_id, final_before=now - CORRECTION_S, at=now)
