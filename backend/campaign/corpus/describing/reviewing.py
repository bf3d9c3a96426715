"""Let leads list descriptions (moments that annotators marked, with a sentence) and decide on them.

A lead accepts a description as a caption, sends it back with a comment, or undoes either.

*Reads* descriptions, moments. *Writes* moment, caption, description, description_act, events.
"""

from datetime import UTC, datetime

from backend.campaign.corpus.captions.name_mapping import known_words
from backend.campaign.corpus.describing.model import (
    DESCRIPTION_ACCEPTED,
    DESCRIPTION_RETURNED,
    DESCRIPTION_TAKEN_BACK,
    LONGEST_SENTENCE,
    LONGEST_WORDS,
    DescribingFigures,
    DescriptionAct,
    DescriptionFilter,
    DescriptionLine,
    DescriptionReview,
    DescriptionStatus,
    SameSeconds,
)
from backend.campaign.corpus.describing.rows import descriptions, reviewed
from backend.campaign.corpus.describing.rows.descriptions import DescriptionRow
from backend.campaign.corpus.describing.rules import is_allowed, same_span, sentence_notes, wanted_count
from backend.campaign.corpus.describing.work import usable_name_mapping
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import MomentId
from backend.core.messages import said
from backend.core.text_files import csv_text
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import Database, reading, writing

HEADER = (
    *("video", "start_s", "end_s", "sentence", "caption", "author", "status", "written_at", "moment_start_s"),
    *("moment_end_s", "lead_wrote"),
)


@permissions.in_charge
def description_counts(project: Project, by: Lead | Operator) -> dict[DescriptionStatus, int]:
    """Return how many descriptions (marked moments, each with a sentence) have each status."""
    return reviewed.counts(project.store.db)


@permissions.in_charge
def count_descriptions(project: Project, by: Lead | Operator, filter_: DescriptionFilter) -> int:
    """Return how many descriptions (marked moments, each with a sentence) match a filter."""
    return reviewed.count(project.store.db, filter_)


@permissions.in_charge
def find_descriptions(
    project: Project, by: Lead | Operator, filter_: DescriptionFilter, *, first: int = 0, most: int = 25
) -> list[DescriptionLine]:
    """Return one page of the descriptions that a filter matches, in the filter's order.

    `first` is the index of the first one to return, from 0, and `most` how many to return at most.
    """
    return reviewed.page(project.store.db, filter_, first, most)


@permissions.in_charge
def description_keys(project: Project, by: Lead | Operator, filter_: DescriptionFilter) -> list[str]:
    """Return the keys of all descriptions that a filter matches, in the filter's order.

    Pages use them to go to the next or the previous description.
    """
    return reviewed.keys(project.store.db, filter_)


@permissions.in_charge
def describing_figures(project: Project, by: Lead | Operator) -> DescribingFigures:
    """Return how many videos have descriptions, and how many descriptions each annotator wrote, by status."""
    with reading(project.store) as db:
        choice, videos = descriptions.current_choice(db), reviewed.per_video(db)
        counts = [(wanted_count(seconds, choice.per_video, choice.per_minute), written) for seconds, written in videos]
        limited = choice.per_video is not None or choice.per_minute is not None
        return DescribingFigures(
            videos=len(videos),
            described=sum(written > 0 for _, written in videos),
            enough=sum(most is not None and written >= most for most, written in counts) if limited else None,
            people=reviewed.figures(db),
        )


@permissions.in_charge
def descriptions_csv(project: Project, by: Lead | Operator) -> str:
    """Return all descriptions except withdrawn ones as CSV text, sorted by video and time.

    Times of writing are in UTC.
    """
    with reading(project.store) as db:
        rows = descriptions.where(db, "d.status <> 'withdrawn'", [], "ORDER BY v.name, d.start_s, d.description_id")
        lines = []
        for row in rows:
            moment = reviewed.moment_of(db, row.moment_id) if row.moment_id is not None else None
            lines.append(
                (
                    *(row.video, row.start_s, row.end_s, row.sentence),
                    "" if row.caption_id is None else reviewed.caption_text(db, row.caption_id),
                    *(row.author, row.status.value, _utc(reviewed.written_at(db, row.description_id))),
                    *(moment[1:] if moment else ("", "")),
                    row.words,
                )
            )
    return csv_text(HEADER, lines, for_people=True)


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_DID = {
    DescriptionAct.WRITTEN: said("changed this description"),
    DescriptionAct.WITHDRAWN: said("withdrew this description"),
    DescriptionAct.ACCEPTED: said("accepted this description"),
    DescriptionAct.RETURNED: said("sent this description back"),
    DescriptionAct.TAKEN_BACK: said("undid the decision about this description"),
}


@permissions.in_charge
def description(project: Project, by: Lead | Operator, key: str) -> DescriptionReview | None:
    """Return a description with everything that a lead needs to decide on it; None if there is no such description."""
    with reading(project.store) as db:
        row = descriptions.by_key(db, key)
        if row is None:
            return None
        return DescriptionReview(
            description=row.key,
            video=row.video,
            start_s=row.start_s,
            end_s=row.end_s,
            sentence=row.sentence,
            author=row.author,
            status=row.status,
            revision=row.revision,
            written_at=reviewed.written_at(db, row.description_id),
            caption="" if row.caption_id is None else reviewed.caption_text(db, row.caption_id),
            words=row.words,
            notes=sentence_notes(row.sentence, usable_name_mapping(project), known_words()),
            beside=_beside(db, row),
            last=reviewed.last_act(db, row.description_id),
        )


@permissions.lead_only
def accept_description(
    project: Project,
    lead: Lead,
    key: str,
    *,
    sentence: str | None = None,
    into: MomentId | None = None,
    seen: int,
    now: float,
) -> None:
    """Accept a description as a caption of a new moment, or of an existing moment with nearly the same seconds.

    Args:
        project: the project.
        lead: who accepts.
        key: which description.
        sentence: the caption as the lead edited it; None takes the author's sentence.
        into: the existing moment that gets the caption. None takes the moment with exactly the described seconds, and
            adds it if there is none.
        seen: the revision of the description that the lead looked at.
        now: seconds since 1970.

    Raises:
        Overtaken: its author or another lead has changed it since `seen`.
        ProjectError: there is no such description, the sentence is empty or too long, or the moment `into`
            shows other seconds.
    """
    with writing(project.store) as db:
        row = _require_row(db, lead, key, DescriptionAct.ACCEPTED, seen, now)
        text = row.sentence if sentence is None else tidy(sentence)
        if not text:
            raise ProjectError(said("the caption is empty: write what happens, or send the description back"))
        if len(text) > LONGEST_SENTENCE:
            raise ProjectError(
                said(
                    "the caption has {length} characters: use at most {longest}",
                    length=len(text),
                    longest=LONGEST_SENTENCE,
                )
            )
        span = row.span
        if into is None:
            moment = reviewed.moment_at(db, row.video, span)
        else:
            existing = reviewed.moment_of(db, into)
            if existing is None or existing[0] != row.video_id or not same_span(existing[1:], row.span):
                raise ProjectError(said("the moment with these times is not there (any more): reload the page"))
            moment, span = (into, False), existing[1:]
        caption = reviewed.caption_of(db, moment[0], text)
        reviewed.accept(db, row.description_id, moment, caption, lead.annotator_id, span=span, sentence=text, at=now)
        payload = {
            **{"video": row.video, "start_s": span[0], "end_s": span[1], "sentence": text},
            **{"edited": text != row.sentence, "author": row.author},
        }
        events.note(db, DESCRIPTION_ACCEPTED, lead, f"description:{key}", now=now, **payload)


@permissions.lead_only
def return_description(project: Project, lead: Lead, key: str, words: str, *, seen: int, now: float) -> None:
    """Send a description back to its author, with the comment `words` on what to change.

    `seen` is the revision that the lead looked at.

    Raises:
        Overtaken: its author or another lead has changed it since `seen`.
        ProjectError: there is no such description, or the comment is empty or too long.
    """
    words = tidy(words)
    if not words:
        raise ProjectError(said("write what the author should change, then send the description back"))
    if len(words) > LONGEST_WORDS:
        raise ProjectError(
            said("the comment has {length} characters: use at most {longest}", length=len(words), longest=LONGEST_WORDS)
        )
    with writing(project.store) as db:
        row = _require_row(db, lead, key, DescriptionAct.RETURNED, seen, now)
        reviewed.give_back(db, row.description_id, lead.annotator_id, words, at=now)
        events.note(db, DESCRIPTION_RETURNED, lead, f"description:{key}", now=now, words=words, author=row.author)


@permissions.lead_only
def take_back_description(project: Project, lead: Lead, key: str, *, now: float) -> DescriptionAct:
    """Undo the decision to accept a description or to send it back, so that it needs a decision again.

    The moment and the caption that were added when it was accepted are removed, unless something else uses them.

    Returns:
        Which decision was undone, `ACCEPTED` or `RETURNED`.

    Raises:
        Overtaken: its author has changed it meanwhile, or the decision was undone already.
        ProjectError: there is no such description, or its moment or caption is already in use.
    """
    with writing(project.store) as db:
        row = _require_row(db, lead, key, DescriptionAct.TAKEN_BACK, None, now)
        what = DescriptionAct.ACCEPTED if row.status is DescriptionStatus.ACCEPTED else DescriptionAct.RETURNED
        moment_id, caption_id = row.moment_id, row.caption_id
        if moment_id is not None and reviewed.is_candidate(db, moment_id):
            raise ProjectError(said("its moment is already a candidate of a query, so this cannot be undone"))
        reviewed.take_back(db, row.description_id, lead.annotator_id, at=now)
        if row.made_caption and caption_id is not None and not reviewed.drop_caption(db, caption_id):
            raise ProjectError(said("a rewrite or a query already uses its caption, so this cannot be undone"))
        if row.made_moment and moment_id is not None:
            reviewed.drop_moment(db, moment_id)  # it stays if it has other captions
        events.note(db, DESCRIPTION_TAKEN_BACK, lead, f"description:{key}", now=now, what=what)
    return what


def _require_row(
    db: Database, lead: Lead, key: str, act: DescriptionAct, seen: int | None, now: float
) -> DescriptionRow:
    row = descriptions.by_key(db, key)
    if row is None:
        raise ProjectError(said("there is no such description: reload the page"))
    if not is_allowed(act, row.status) or (seen is not None and seen != row.revision):
        did, name, at = reviewed.last_act(db, row.description_id)
        who = said("You", _context="by") if name == lead.name else name
        raise Overtaken(
            said("{who} {did} {when}: look at its current state", who=who, did=_DID[did], when=ago(now - at))
        )
    return row


def _beside(db: Database, row: DescriptionRow) -> list[SameSeconds]:
    """Return the other moments and descriptions that show nearly the same seconds as a description.

    A lead may add the sentence to one of these moments as another caption.
    """
    moments = [
        SameSeconds(start_s, end_s, text, moment_id=moment_id)
        for moment_id, start_s, end_s, text in reviewed.moments_within(db, row.video_id, row.span)
        if moment_id != row.moment_id and same_span((start_s, end_s), row.span)
    ]
    others = descriptions.where(
        db, "d.video_id = ? AND d.status <> 'withdrawn' AND d.description_id <> ?", [row.video_id, row.description_id]
    )
    described = [
        SameSeconds(other.start_s, other.end_s, other.sentence, other.author, other.key, other.status, other.moment_id)
        for other in others
        if same_span(other.span, row.span)
    ]
    return [*moments, *described]
