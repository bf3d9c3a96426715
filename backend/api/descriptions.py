"""A lead's page of descriptions: what waits, what became of the rest, and the guideline for describers."""

from backend.campaign.corpus.describing import reviewing, rewording
from backend.campaign.corpus.describing.model import (
    DescribingFigures,
    DescribingGuideline,
    DescriptionAct,
    DescriptionFilter,
    DescriptionLine,
    DescriptionReview,
    DescriptionStatus,
)
from backend.campaign.corpus.describing.rows import choices, reviewed
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId
from backend.store.connection import reading


def description_counts(project: Project, by: Person | Operator) -> dict[DescriptionStatus, int]:
    """How many descriptions stand how."""
    permissions.require_in_charge(project.store, by)
    return reviewed.counts(project.store.db)


def count_descriptions(project: Project, by: Person | Operator, wanted: DescriptionFilter) -> int:
    """How many descriptions a lead looks for."""
    permissions.require_in_charge(project.store, by)
    return reviewed.count(project.store.db, wanted)


def find_descriptions(
    project: Project, by: Person | Operator, wanted: DescriptionFilter, *, first: int = 0, most: int = 25
) -> list[DescriptionLine]:
    """A page of the descriptions that a lead looks for: at most so many from the given one on, counted from 0."""
    permissions.require_in_charge(project.store, by)
    return reviewed.page(project.store.db, wanted, first, most)


def description_keys(project: Project, by: Person | Operator, wanted: DescriptionFilter) -> list[str]:
    """The names of all descriptions that a lead looks for, in their order: what comes before and after one."""
    permissions.require_in_charge(project.store, by)
    return reviewed.keys(project.store.db, wanted)


def description(project: Project, by: Person | Operator, key: str) -> DescriptionReview | None:
    """One description with all that a lead decides by; None if there is no such."""
    permissions.require_in_charge(project.store, by)
    return reviewing.review(project, key)


def accept_description(
    project: Project,
    lead: Person,
    key: str,
    *,
    sentence: str | None = None,
    into: MomentId | None = None,
    seen: int,
    now: float,
) -> None:
    """Make a description a caption, in other words if some are given, of a moment of its own or of `into`.

    Raises:
        Overtaken: somebody did something about it since the revision `seen`.
        ProjectError: it cannot be accepted so.
    """
    found = permissions.require_lead(project.store, lead)
    reviewing.accept(project.store, found, key, sentence=sentence, into=into, seen=seen, now=now)


def return_description(project: Project, lead: Person, key: str, words: str, *, seen: int, now: float) -> None:
    """Send a description back to its author, with what to change.

    Raises:
        Overtaken: somebody did something about it since the revision `seen`.
        ProjectError: no words.
    """
    reviewing.give_back(project.store, permissions.require_lead(project.store, lead), key, words, seen=seen, now=now)


def take_back_description(project: Project, lead: Person, key: str, *, now: float) -> DescriptionAct:
    """Take back that a description was accepted or sent back; what that was.

    Raises:
        Overtaken: somebody did something about it since.
        ProjectError: something rests on its caption.
    """
    return reviewing.take_back(project.store, permissions.require_lead(project.store, lead), key, now=now)


def describing_figures(project: Project, by: Person | Operator) -> DescribingFigures:
    """How far describing is, and by whom."""
    permissions.require_in_charge(project.store, by)
    return reviewing.figures(project.store)


def descriptions_csv(project: Project, by: Person | Operator) -> str:
    """All descriptions with author, words and what became of each, as CSV; instants in UTC."""
    permissions.require_in_charge(project.store, by)
    return reviewing.as_csv(project.store)


def describing_guideline(project: Project, by: Person | Operator) -> DescribingGuideline:
    """What describers are told, as it stands."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        return choices.guideline(db)


def reword_describing(
    project: Project, by: Person | Operator, text: str, reason: str, *, based_on: int | None = None, now: float
) -> int:
    """Let the guideline for describers say this from now on; the number of the version.

    Raises:
        Overtaken: another version came meanwhile.
        ProjectError: no words, no reason, or nothing changed.
    """
    found = permissions.require_in_charge(project.store, by)
    return rewording.reword(project.store, found, text, reason, based_on=based_on, now=now)
