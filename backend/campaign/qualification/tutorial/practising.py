"""Let annotators practise: take an answer, and tell at once what is right and why. No answer is a judgement.

*Reads* practice pairs, videos. *Writes* practice_answer. The right grade leaves this module with the answer only.
"""

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Annotator, Lead
from backend.campaign.qualification.answers.rules import misses
from backend.campaign.qualification.tutorial import choosing, rows
from backend.campaign.qualification.tutorial.model import PracticeItem, PracticeTold
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, ProjectError, VideoUnreadable
from backend.core.messages import said
from backend.media.jobs import ClipJob, clip_job
from backend.store.connection import reading, writing

GONE = said("this is no practice pair (any more): reload the page")


@permissions.annotator_only
def practice_items(project: Project, person: Annotator, *, now: float) -> list[PracticeItem]:
    """Return what an annotator practises on, without any right grade."""
    with reading(project.store) as db:
        own = rows.last_answers(db, person.annotator_id)
        shown = (one for one in rows.practice_pairs(db) if not choosing.hidden(db, one, now=now))
        return [PracticeItem(one.key, one.query, one.whole, own.get(one.practice_id)) for one in shown]


@permissions.signed_in
def practice_clip(project: Project, person: Lead | Annotator, key: str) -> ClipJob:
    """Return the clip of a practice pair.

    Raises:
        NotAllowed: there is no such practice pair.
        VideoUnreadable: the project does not know the video's file.
    """
    with reading(project.store) as db:
        one = _by_key(rows.practice_pairs(db), key)
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
        one = _by_key(rows.practice_pairs(db), key)
        if one is None or choosing.hidden(db, one, now=now):
            raise ProjectError(GONE)
        campaign = facts.campaign(db)
        if grade not in campaign.scale:
            raise ProjectError(
                said("{grade} is not a grade: grades are {words}", grade=grade, words=campaign.scale.words)
            )
        owner = rows.answer_owner(db, event_key)
        if owner is None:
            rows.add_answer(db, one.practice_id, person.annotator_id, grade, event_key, at=now)
        elif owner != (one.practice_id, person.annotator_id, grade):
            raise ProjectError(said("this key press was stored for another answer already: press the grade again"))
    return PracticeTold(grade, one.grade, not misses(grade, one.grade, campaign.tolerance), one.explanation)


def _by_key(there: list[rows.PracticePair], key: str) -> rows.PracticePair | None:
    return next((one for one in there if one.key == key), None)
