"""The guideline: its words and their versions, who has read which, and the examples that leads choose."""

from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.judging.rows import judgements as judgement_rows
from backend.campaign.nouns import Operator, Person
from backend.campaign.qualification.guideline import examples as example_acts
from backend.campaign.qualification.guideline import reading, rewording
from backend.campaign.qualification.guideline import rows as example_rows
from backend.campaign.qualification.guideline.model import Change
from backend.campaign.qualification.guideline.reading import News
from backend.campaign.qualification.guideline.rows import Example
from backend.campaign.qualification.guideline.rules import changes
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Grading, GuidelineVersion
from backend.core.errors import ProjectError, VideoUnreadable
from backend.core.ids import PairKey
from backend.core.saying import said
from backend.media.jobs import ClipJob, clip_job


def guideline_versions(project: Project, by: Person | Operator) -> list[GuidelineVersion]:
    """All versions of the guideline, the first one first; the last one stands."""
    permissions.require_in_charge(project.store, by)
    return facts.versions(project.store.db)


def guideline_readers(project: Project, by: Person | Operator) -> dict[int, int]:
    """How many annotators were shown each version as their newest."""
    permissions.require_in_charge(project.store, by)
    return example_rows.readers(project.store.db)


def guideline_changes(before: Grading, after: Grading) -> list[Change]:
    """Every text that two versions have differently."""
    return changes(before, after)


def reword_guideline(
    project: Project, by: Person | Operator, new: Grading, reason: str, *, now: float, based_on: int | None = None
) -> tuple[int, list[Change]]:
    """Let the guideline say this from now on; the number of the new version, and what changed.

    See `backend.campaign.qualification.guideline.rewording`.
    """
    lead = permissions.require_in_charge(project.store, by)
    return rewording.reword(project.store, lead, new, reason, now=now, based_on=based_on)


def set_guideline_from_file(
    project: Project, by: Person | Operator, file: Path, reason: str, *, now: float
) -> tuple[int, list[Change]]:
    """Let the guideline say what a file says, in the form of `init --scale`."""
    lead = permissions.require_in_charge(project.store, by)
    return rewording.reword(project.store, lead, scale_file.read(file), reason, now=now, source=str(file))


def guideline_news(project: Project, person: Person) -> News | None:
    """What changed since this person was shown the guideline; None if nothing did, or they are new."""
    return reading.news(project.store, permissions.require_annotator(project.store, person))


def note_guideline_seen(project: Project, person: Person, version: int, *, now: float) -> None:
    """This person was shown a version of the guideline, to its end."""
    reading.note_seen(project.store, permissions.require_annotator(project.store, person), version, now=now)


def examples_chosen(project: Project, by: Person | Operator) -> list[Example]:
    """The example that stands for each grade, also one that does not show just now."""
    permissions.require_in_charge(project.store, by)
    return example_rows.standing(project.store.db)


def examples(project: Project, person: Person) -> list[Example]:
    """What the guideline shows to everybody who is signed in, in the order of the grades.

    Left out: pairs that got another relevance since they were chosen, and pairs whose clip cannot be shown.
    """
    permissions.require_signed_in(project.store, person)
    return [example for example in example_rows.standing(project.store.db) if example.showing]


def example_clip(project: Project, person: Person, grade: int, version: int | None = None) -> ClipJob:
    """The clip of the example of a grade, for anybody who is signed in.

    Args:
        project: the project.
        person: who asks.
        grade: one of the scale.
        version: the choice it should belong to; None takes the present one.

    Raises:
        ProjectError: no such example is shown (any more).
        VideoUnreadable: the project does not know the video's file.
    """
    for example in examples(project, person):
        if example.grade == grade and version in (None, example.version):
            return _clip(project, example.pair)
    raise ProjectError(said("there is no such example of grade {grade} (any more): reload the page", grade=grade))


def choose_example(project: Project, lead: Person, pair: PairKey, grade: int, note: str, *, now: float) -> None:
    """A lead shows a settled pair, whose relevance is `grade`, as the example of it, with a note in their words."""
    example_acts.choose(project.store, permissions.require_lead(project.store, lead), pair, grade, note, now=now)


def withdraw_example(project: Project, lead: Person, grade: int, *, now: float) -> None:
    """A lead takes back the example of a grade; the guideline then shows the one in words."""
    example_acts.withdraw(project.store, permissions.require_lead(project.store, lead), grade, now=now)


def _clip(project: Project, key: PairKey) -> ClipJob:
    row = judgement_rows.pair_by_key(project.store.db, key)
    facts = corpus_rows.video_facts(project.store.db, row.video) if row else None
    if row is None or facts is None:
        raise VideoUnreadable(said("the video of this example is not in the project"))
    return clip_job(project.clips, project.source(facts), row.start_s, row.end_s, facts.sha256)
