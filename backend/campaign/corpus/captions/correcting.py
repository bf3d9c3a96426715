"""Let leads correct the text of a caption before annotators see its moment or its query.

Leads can correct captions in use: accepted rewrites, and published captions without one. If a query was drawn from the
caption, it gets the new text too. Annotators grade pairs of a query and a moment. Once an annotator was given a pair
with the caption's moment or with that query, the text is fixed.

*Reads* captions, queries, pairs, seats (annotators' places at pairs), events. *Writes* caption, query, events.
"""

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.captions.model import CAPTION_CORRECTED, AcceptedCaption, Correction
from backend.campaign.corpus.captions.name_mapping import name_mapping_of
from backend.campaign.corpus.captions.rules import names_in
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge, lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import reading, writing

LONGEST_CAPTION = 1000
"""The most characters that a corrected caption may have."""


@in_charge
def count_accepted_captions(project: Project, by: Lead | Operator, search: str = "") -> int:
    """Count the captions in use that match `search`: each of its words occurs in the text or in the video's name.

    In use are accepted rewrites, and published captions without one.
    """
    with reading(project.store) as db:
        return rows.count_accepted(db, search)


@in_charge
def accepted_captions(
    project: Project, by: Lead | Operator, search: str = "", *, first: int = 0, most: int = 25
) -> list[AcceptedCaption]:
    """Return one page of the captions in use (accepted rewrites, and published captions without one).

    The captions are sorted by video and time.

    Args:
        project: the project.
        by: who asks.
        search: words that must each occur in the caption's text or its video's name; empty for all captions.
        first: index of the first caption to return, from 0.
        most: how many captions to return at most.
    """
    with reading(project.store) as db:
        return rows.accepted_captions(db, search, first, most)


@in_charge
def accepted_caption(
    project: Project, by: Lead | Operator, caption_id: int
) -> tuple[AcceptedCaption, list[Correction]] | None:
    """Return a caption in use and its corrections, the newest first; None if no such caption is in use.

    In use are accepted rewrites, and published captions without one.
    """
    with reading(project.store) as db:
        caption = rows.accepted_caption(db, caption_id)
        return None if caption is None else (caption, rows.corrections(db, caption_id))


@lead_only
def correct_caption(
    project: Project, lead: Lead, caption_id: int, text: str, reason: str, *, seen: str, now: float
) -> None:
    """Change the text of a caption, and of the query that was drawn from it with the same text.

    The candidate moments, which annotators grade for the query, stay. They were chosen by similarity to the old text,
    and the stored similarities stay too.

    Args:
        project: the project.
        lead: who corrects the caption.
        caption_id: which caption.
        text: its new text.
        reason: why, for the event log.
        seen: the text that the lead had on screen.
        now: seconds since 1970.

    Raises:
        Overtaken: the caption no longer has the text `seen`, or is gone.
        ProjectError: annotators already have the caption's moment or query to grade, or the text cannot be used. It may
            be empty, too long, unchanged, contain a name, or belong to another caption of the moment or another query.
    """
    new_text, reason = tidy(text), tidy(reason)
    if not new_text:
        raise ProjectError(said("The caption is empty. Write what happens in the clip."))
    if len(new_text) > LONGEST_CAPTION:
        raise ProjectError(
            said(
                "The caption has {length} characters. Use at most {longest}.",
                length=len(new_text),
                longest=LONGEST_CAPTION,
            )
        )
    with writing(project.store) as db:
        caption = rows.accepted_caption(db, caption_id)
        if caption is None or caption.text != seen:
            raise Overtaken(said("Somebody else changed this caption. Check it before you correct it."))
        if caption.fixed:
            raise ProjectError(said("Annotators already have pairs of this caption, so its text is fixed."))
        if new_text == caption.text:
            raise ProjectError(said("The caption already has this text. Change it, then save."))
        if caption.published and (names := names_in(new_text, name_mapping_of(project), {})):
            raise ProjectError(said("The caption still has a name: {names}. Replace it.", names=", ".join(names)))
        if not rows.correct(db, caption_id, new_text, at=now):
            raise ProjectError(said("Another caption of this moment, or another query, already has this text."))
        payload = {"before": caption.text, "text": new_text, "reason": reason}
        events.note(db, CAPTION_CORRECTED, lead, f"caption:{caption_id}", now=now, **payload)
