"""The guideline's examples: what leads choose, what everybody is shown."""

from backend.campaign.corpus import rows as corpus_rows
from backend.campaign.guideline import examples as example_acts
from backend.campaign.guideline import rows as example_rows
from backend.campaign.guideline.rows import Example
from backend.campaign.judging.rows import judgements as judgement_rows
from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.ground.errors import ProjectError, VideoUnreadable
from backend.ground.ids import PairKey
from backend.media.jobs import ClipJob, clip_job


def examples_chosen(project: Project, by: Person | Operator) -> list[Example]:
    """The example that stands for each grade, also one that does not show just now."""
    gate.in_charge(project.store, by)
    return example_rows.standing(project.store.db)


def examples(project: Project, person: Person) -> list[Example]:
    """What the guideline shows to everybody who is signed in, in the order of the grades.

    Left out: pairs that got another relevance since they were chosen, and pairs whose clip cannot be shown.
    """
    gate.signed_in(project.store, person)
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
    raise ProjectError(f"there is no such example of grade {grade} (any more): reload the page")


def choose_example(project: Project, lead: Person, pair: PairKey, grade: int, note: str, *, now: float) -> None:
    """A lead shows a settled pair, whose relevance is `grade`, as the example of it, with a note in their words."""
    example_acts.choose(project.store, gate.lead_of(project.store, lead), pair, grade, note, now=now)


def withdraw_example(project: Project, lead: Person, grade: int, *, now: float) -> None:
    """A lead takes back the example of a grade; the guideline then shows the one in words."""
    example_acts.withdraw(project.store, gate.lead_of(project.store, lead), grade, now=now)


def _clip(project: Project, key: PairKey) -> ClipJob:
    row = judgement_rows.pair_by_key(project.store.db, key)
    facts = corpus_rows.video_facts(project.store.db, row.video) if row else None
    if row is None or facts is None:
        raise VideoUnreadable("the video of this example is not in the project")
    return clip_job(project.clips, project.file(facts.path), row.start_s, row.end_s, facts.sha256)
