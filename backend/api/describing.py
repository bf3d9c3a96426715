"""Describing: a describer's page, and what leads choose about it."""

from collections.abc import Sequence

from backend.campaign.corpus.describing import opening, work, writing
from backend.campaign.corpus.describing.model import DescribeAnswer, DescribeEvent, DescribeWork, DescribingChoice
from backend.campaign.corpus.describing.rows import choices
from backend.campaign.nouns import Annotator, Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.media.jobs import ClipJob


def may_describe(project: Project, person: Person) -> bool:
    """Whether describing is open for this person; never for a lead, nor for whoever is paused."""
    found = permissions.require_signed_in(project.store, person)
    return isinstance(found, Annotator) and opening.is_open_for(project.store.db, found)


def describing_comes_first(project: Project, person: Person) -> bool:
    """Whether this person may describe and has nothing to grade, because no pair was handed out yet."""
    return may_describe(project, person) and choices.is_all_there_is(project.store.db)


def describe_work(project: Project, person: Person) -> DescribeWork:
    """What this annotator may describe now: videos with their shots, own descriptions, spans that others described.

    Raises:
        NotAllowed: a lead, or describing is not open for them.
    """
    return work.work(project, permissions.require_annotator(project.store, person))


def describe_exchange(
    project: Project, person: Person, events: Sequence[DescribeEvent], *, now: float
) -> DescribeAnswer:
    """Take what a describer's browser has, in the order of doing. Sending an event again changes nothing.

    Raises:
        NotAllowed: a lead, or describing was never open for them.
        StoreUnavailable: the database cannot be written; what is in no answer may be sent again.
    """
    return writing.exchange(project, permissions.require_annotator(project.store, person), events, now=now)


def describe_clip(project: Project, person: Person, video: str) -> ClipJob:
    """A whole video as a clip, by its key, for whoever may describe it.

    Raises:
        NotAllowed: a lead.
        ProjectError: not theirs to describe.
        VideoUnreadable: the project does not know the video's file.
    """
    return work.clip(project, permissions.require_annotator(project.store, person), video)


def note_describing_seen(project: Project, person: Person, version: int, *, now: float) -> None:
    """This annotator was shown a version of the guideline for describers."""
    work.note_seen(project.store, permissions.require_annotator(project.store, person), version, now=now)


def describing_choice(project: Project, by: Person | Operator) -> DescribingChoice:
    """Whether describing is open, for whom, in which videos, and how much is wanted."""
    permissions.require_in_charge(project.store, by)
    return opening.standing(project.store)


def choose_describing(project: Project, by: Person | Operator, chosen: DescribingChoice, *, now: float) -> None:
    """Open describing for these people and videos, or close it.

    Raises:
        ProjectError: everything that is wrong with the choice.
    """
    opening.choose(project.store, permissions.require_in_charge(project.store, by), chosen, now=now)


def close_describing(project: Project, by: Person | Operator, *, now: float) -> bool:
    """Close describing; whether it was open."""
    return opening.close(project.store, permissions.require_in_charge(project.store, by), now=now)
