"""Suggest practice pairs, and let annotators practise: tell at once what is right and why.

*Reads* practice pairs, videos, queries, candidates. *Writes* practice_answer. No answer is a judgement. The right grade
leaves this module with the answer only.
"""

from collections.abc import Sequence

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Annotator, Lead, Split
from backend.campaign.qualification.answers.rules import misses
from backend.campaign.qualification.guideline import practice_pairs
from backend.campaign.qualification.guideline import rows as guideline_rows
from backend.campaign.qualification.guideline.rules import Offer, PracticeItem, PracticeTold
from backend.campaign.selection.candidates import choosing as candidates
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, ProjectError, VideoUnreadable
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.encoders import sentence
from backend.media.jobs import ClipJob, clip_job
from backend.store.connection import reading, writing

GONE = said("this is no practice pair (any more): reload the page")


@permissions.annotator_only
def practice_items(project: Project, person: Annotator, *, now: float) -> list[PracticeItem]:
    """Return what an annotator practises on, without any right grade."""
    with reading(project.store) as db:
        own = guideline_rows.last_answers(db, person.annotator_id)
        shown = (one for one in guideline_rows.practice_pairs(db) if not practice_pairs.hidden(db, one, now=now))
        return [PracticeItem(one.key, one.query, one.whole, own.get(one.practice_id)) for one in shown]


@permissions.signed_in
def practice_clip(project: Project, person: Lead | Annotator, key: str) -> ClipJob:
    """Return the clip of a practice pair.

    Raises:
        NotAllowed: there is no such practice pair.
        VideoUnreadable: the project does not know the video's file.
    """
    with reading(project.store) as db:
        one = _by_key(guideline_rows.practice_pairs(db), key)
        if one is None:
            raise NotAllowed(GONE)
        video = corpus.video_facts(db, one.video)
    if video is None:
        raise VideoUnreadable(
            said(
                "{name}: {why}",
                name=one.video,
                why=said("no video file known; import the corpus again with --videos FOLDER"),
            )
        )
    return clip_job(project.clips, project.source(video), one.start_s, one.end_s, video.sha256)


@permissions.annotator_only
def answer_practice(
    project: Project, person: Annotator, key: str, grade: int, event_key: str, *, now: float
) -> PracticeTold:
    """Take an answer and tell what is right. Sending the same key press again changes nothing.

    Raises:
        ProjectError: no such practice pair, or not a grade.
    """
    with writing(project.store) as db:
        one = _by_key(guideline_rows.practice_pairs(db), key)
        if one is None or practice_pairs.hidden(db, one, now=now):
            raise ProjectError(GONE)
        campaign = facts.campaign(db)
        if grade not in campaign.scale:
            raise ProjectError(
                said("{grade} is not a grade: grades are {words}", grade=grade, words=campaign.scale.words)
            )
        owner = guideline_rows.answer_owner(db, event_key)
        if owner is None:
            guideline_rows.add_answer(db, one.practice_id, person.annotator_id, grade, event_key, at=now)
        elif owner != (one.practice_id, person.annotator_id, grade):
            raise ProjectError(said("this key press was stored for another answer already: press the grade again"))
    return PracticeTold(grade, one.grade, not misses(grade, one.grade, campaign.tolerance), one.explanation)


def _by_key(there: list[guideline_rows.PracticePair], key: str) -> guideline_rows.PracticePair | None:
    return next((one for one in there if one.key == key), None)


MOST_TEXTS = 2000


@permissions.lead_only
def practice_offers(project: Project, lead: Lead, text: str, *, most: int = 6) -> list[Offer]:
    """Return the moments whose captions are most similar to a text, with where they lie; loads the project's encoder.

    Raises:
        ProjectError: the candidate lists came from another encoder.
    """
    settings, db = project.settings, project.store.db
    encoder = sentence.load(sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype))
    recorded = candidates_rows.encoder_of_candidates(db)
    if recorded is not None and recorded != encoder.identity:
        raise ProjectError(
            said(
                "the candidate lists were made with {recorded}, but the encoder is {identity} now",
                recorded=recorded,
                identity=encoder.identity,
            )
        )
    asked = [QueryRow(QueryId(0), " ".join(text.split()), Split.TRAIN)]
    found, _ = candidates.search(project, encoder, asked, most)
    details = corpus.moment_details(db)
    return [
        Offer(row.moment_id, there.video, there.start_s, there.end_s, there.caption, row.similarity)
        for row in found
        for there in (details[row.moment_id],)
    ]


@permissions.lead_only
def practice_texts(project: Project, lead: Lead) -> Sequence[str]:
    """Return texts of training queries, which nobody judges: the first distinct ones."""
    with reading(project.store) as db:
        return list(dict.fromkeys(query.text for query in queries.query_rows(db, (Split.TRAIN,))))[:MOST_TEXTS]
