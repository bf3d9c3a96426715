"""Reply to the notes that annotators gave with their grades, show them the replies, and write notes to CSV.

*Reads* notes, replies, verdicts. *Writes* replies, reply_read, events. A reply is shown once its pair is settled for
good, and only to who wrote the note.
"""

from backend.campaign.judging.model import CORRECTION_S, MyReply
from backend.campaign.judging.rows import judgements
from backend.campaign.nouns import Annotator, Lead, Operator
from backend.campaign.review.model import NOTE_ANSWERED
from backend.campaign.review.rows import reviews
from backend.campaign.setup.people.permissions import annotator_only, in_charge, lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, ProjectError
from backend.core.messages import said
from backend.core.text_files import csv_text
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import reading, writing

LONGEST_REPLY = 600
HEADER = (
    *("query", "video", "start_s", "end_s", "rank", "verdict", "annotator", "grade", "note"),
    *("reply", "replied_by"),
)


@lead_only
def reply_to_note(project: Project, lead: Lead, note: int, text: str, *, seen: int = 0, now: float) -> None:
    """Reply to a note, or reword the reply; the newest one counts, and the person reads it once the pair is settled.

    Args:
        project: the project.
        lead: who replies.
        note: which note, by its judgement.
        text: in the lead's words.
        seen: the id of the newest reply that the lead had seen; 0 where there was none.
        now: seconds since 1970.

    Raises:
        Overtaken: there is a reply that the lead had not seen. The same one sent again changes nothing.
        ProjectError: no such note, no text, or too much of it.
    """
    text = tidy(text)
    if not text:
        raise ProjectError(said("a reply needs words: write a sentence, or leave the note as it is"))
    if len(text) > LONGEST_REPLY:
        raise ProjectError(
            said(
                "a reply has at most {longest} characters; this one has {length}",
                longest=LONGEST_REPLY,
                length=len(text),
            )
        )
    with writing(project.store) as db:
        found = judgements.note_by_id(db, note)
        if found is None or not found[1]:
            raise ProjectError(said("there is no such note (any more): reload the page"))
        newest = judgements.newest_reply(db, note)
        if newest is not None and newest[0] != seen:
            if newest[1:3] == (lead.name, text):
                return
            who = said("You", _context="by") if newest[1] == lead.name else newest[1]
            raise Overtaken(
                said(
                    "{who} replied {when}: “{newest}”. Reply again if yours shall replace it",
                    who=who,
                    when=ago(now - newest[3]),
                    newest=newest[2],
                )
            )
        judgements.add_reply(db, note, lead.annotator_id, text, at=now)
        events.record(
            db,
            NOTE_ANSWERED,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{found[0]}",
            payload={"judgement": note},
        )


@in_charge
def notes_csv(project: Project, by: Lead | Operator) -> str:
    """Return all current notes with their grades and replies as CSV, a row each. No release holds them."""
    rows = []
    with reading(project.store) as db:
        for pair in reviews.noted(db):
            of = (pair.query, pair.video, pair.start_s, pair.end_s, pair.rank, pair.verdict.value)
            for grade in pair.grades:
                if (note := grade.note) is not None:
                    told = (note.reply.text, note.reply.lead) if note.reply else ("", "")
                    rows.append((*of, grade.annotator, grade.grade, note.text, *told))
    return csv_text(HEADER, rows, for_people=True)


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
