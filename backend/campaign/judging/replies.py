"""Show annotators what leads replied to their notes, once the pair is settled for good; nobody else ever sees it.

*Reads* notes, replies, verdicts. *Writes* reply_read.
"""

from backend.campaign.judging.model import CORRECTION_S, MyReply
from backend.campaign.judging.rows import judgements
from backend.campaign.nouns import Annotator
from backend.campaign.setup.people.permissions import annotator_only
from backend.campaign.setup.project.folder import Project
from backend.store.connection import reading, writing


@annotator_only
def my_replies(project: Project, annotator: Annotator, *, now: float) -> list[MyReply]:
    """Return the replies that have reached this person, unread ones first."""
    with reading(project.store) as db:
        return judgements.replies_to(db, annotator.annotator_id, final_before=now - CORRECTION_S)


@annotator_only
def read_replies(project: Project, annotator: Annotator, *, now: float) -> None:
    """Note that the person has read the replies that have reached them."""
    with writing(project.store) as db:
        judgements.mark_replies_read(db, annotator.annotator_id, final_before=now - CORRECTION_S, at=now)
