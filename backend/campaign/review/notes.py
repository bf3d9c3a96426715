"""A lead's reply to a note that somebody gave with a grade.

*Reads* notes. *Writes* replies, events. The person reads it by `backend.campaign.monitoring.quality.replies`.
"""

from backend.campaign.judging.rows import notes
from backend.campaign.nouns import Lead
from backend.campaign.review.rows import reviews
from backend.core.errors import Overtaken, ProjectError
from backend.core.saying import said
from backend.core.text_files import csv_text
from backend.core.typed_text import tidy
from backend.core.words import ago
from backend.store import events
from backend.store.connection import Store, reading, writing
from backend.store.events import EventKind

LONGEST_REPLY = 600
HEADER = (
    *("query", "video", "start_s", "end_s", "rank", "verdict", "annotator", "grade", "note"),
    *("reply", "replied_by"),
)


def reply(store: Store, lead: Lead, note: int, text: str, *, seen: int, now: float) -> None:
    """Reply to a note, or reword the reply; the newest one counts, and the person reads it once the pair is settled.

    Args:
        store: the project's store.
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
    with writing(store) as db:
        found = notes.by_id(db, note)
        if found is None or not found[1]:
            raise ProjectError(said("there is no such note (any more): reload the page"))
        newest = notes.newest_reply(db, note)
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
        notes.reply(db, note, lead.annotator_id, text, at=now)
        events.record(
            db,
            EventKind.NOTE_ANSWERED,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{found[0]}",
            payload={"judgement": note},
        )


def as_csv(store: Store) -> str:
    """All notes that stand, with their grades and replies, a row each, for leads."""
    rows = []
    with reading(store) as db:
        for pair in reviews.noted(db):
            of = (pair.query, pair.video, pair.start_s, pair.end_s, pair.rank, pair.verdict.value)
            for grade in pair.grades:
                if (note := grade.note) is not None:
                    told = (note.reply.text, note.reply.lead) if note.reply else ("", "")
                    rows.append((*of, grade.annotator, grade.grade, note.text, *told))
    return csv_text(HEADER, rows, for_people=True)
