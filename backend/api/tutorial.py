"""The tutorial: what newcomers read and practise, and what leads choose for it."""

from collections.abc import Sequence
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.nouns import Operator, Person
from backend.campaign.qualification.guideline import reading
from backend.campaign.qualification.guideline.model import Reading
from backend.campaign.qualification.tutorial import choosing, practising
from backend.campaign.qualification.tutorial.model import Offer, PracticeFigures, PracticeItem, PracticeTold
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, VideoUnreadable
from backend.core.ids import MomentId, PairKey
from backend.core.saying import said
from backend.encoders import sentence
from backend.media.jobs import ClipJob, clip_job

MOST_TEXTS = 2000


def guideline_due(project: Project, person: Person) -> Reading | None:
    """What this annotator has to read before they grade."""
    return reading.due(project.store, permissions.require_annotator(project.store, person))


def guideline_version(project: Project, person: Person) -> int:
    """The number of the guideline's version that stands."""
    permissions.require_signed_in(project.store, person)
    return facts.version(project.store.db)


def practice_items(project: Project, person: Person, *, now: float) -> list[PracticeItem]:
    """What this annotator practises on, without any right grade."""
    return practising.items(project.store, permissions.require_annotator(project.store, person), now=now)


def answer_practice(
    project: Project, person: Person, key: str, grade: int, event_key: str, *, now: float
) -> PracticeTold:
    """Take an answer and tell at once what is right, and why; never a judgement."""
    annotator = permissions.require_annotator(project.store, person)
    return practising.answer(project.store, annotator, key, grade, event_key, now=now)


def practice_clip(project: Project, person: Person, key: str) -> ClipJob:
    """The clip of a practice pair, for anybody who is signed in.

    Raises:
        NotAllowed: there is no such practice pair.
        VideoUnreadable: the project does not know the video's file.
    """
    permissions.require_signed_in(project.store, person)
    place = practising.place(project.store, key)
    if place is None:
        raise NotAllowed(practising.GONE)
    video, start_s, end_s = place
    return _clip(project, video, start_s, end_s)


def practice_figures(project: Project, by: Person | Operator, *, now: float) -> list[PracticeFigures]:
    """The practice pairs that stand, with how often each was missed at the first answer."""
    permissions.require_in_charge(project.store, by)
    return choosing.figures(project.store, now=now)


def choose_practice(
    project: Project, lead: Person, query: str, moment_id: MomentId, grade: int, explanation: str, *, now: float
) -> None:
    """A lead lets newcomers practise on a moment for this text."""
    choosing.choose(
        project.store, permissions.require_lead(project.store, lead), query, moment_id, grade, explanation, now=now
    )


def choose_practice_pair(
    project: Project, lead: Person, pair: PairKey, grade: int, explanation: str, *, now: float
) -> None:
    """A lead lets newcomers practise on a settled pair, whose relevance is `grade`."""
    choosing.choose_pair(
        project.store, permissions.require_lead(project.store, lead), pair, grade, explanation, now=now
    )


def withdraw_practice(project: Project, lead: Person, practice_id: int, *, now: float) -> None:
    """A lead takes a practice pair out of the tutorial."""
    choosing.withdraw(project.store, permissions.require_lead(project.store, lead), practice_id, now=now)


def set_practice_from_file(project: Project, by: Person | Operator, file: Path, *, now: float) -> int:
    """Practise on the pairs of a CSV file, in the place of those that stand; how many."""
    return choosing.set_from_file(project.store, permissions.require_in_charge(project.store, by), file, now=now)


def switch_tutorial(project: Project, by: Person | Operator, on: bool, *, now: float) -> None:
    """Show newcomers the tutorial before their first clip, or let them begin at once."""
    choosing.switch(project.store, permissions.require_in_charge(project.store, by), on, now=now)


def practice_texts(project: Project, lead: Person) -> Sequence[str]:
    """Texts of training queries that a lead may take for practice: nobody judges them."""
    permissions.require_lead(project.store, lead)
    return choosing.training_texts(project.store, most=MOST_TEXTS)


def practice_offers(project: Project, lead: Person, text: str, *, most: int = 6) -> list[Offer]:
    """The moments whose captions are most similar to a text; loads the project's encoder."""
    permissions.require_lead(project.store, lead)
    settings = project.settings
    spec = sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype)
    return choosing.offers(project, sentence.load(spec), text, most=most)


def _clip(project: Project, video: str, start_s: float, end_s: float) -> ClipJob:
    found = corpus_rows.video_facts(project.store.db, video)
    if found is None:
        raise VideoUnreadable(
            said(
                "{name}: {why}",
                name=video,
                why=said("no video file known; import the corpus again with --videos FOLDER"),
            )
        )
    return clip_job(project.clips, project.source(found), start_s, end_s, found.sha256)
