"""Tell annotators what to read of the guideline before they grade, and record who has.

*Reads* guideline versions. *Writes* guideline_seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.nouns import Annotator, Lead
from backend.campaign.qualification.guideline import rows
from backend.campaign.qualification.guideline.model import Change, Reading
from backend.campaign.qualification.guideline.rules import changes, to_read
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.store.connection import Database, reading, writing


@dataclass(frozen=True, slots=True)
class News:
    """What somebody is told of a guideline that changed since they were shown it.

    `reasons` are those of every version since, the oldest first.
    """

    version: int
    reasons: Sequence[str]
    changes: Sequence[Change]


@permissions.signed_in
def guideline_version(project: Project, person: Lead | Annotator) -> int:
    """Return the number of the guideline's current version."""
    return facts.version(project.store.db)


@permissions.annotator_only
def guideline_due(project: Project, person: Annotator) -> Reading | None:
    """Return what an annotator has to read before they grade; None for nothing."""
    with reading(project.store) as db:
        return due(db, person.annotator_id)


@permissions.annotator_only
def guideline_news(project: Project, person: Annotator) -> News | None:
    """Return what changed since an annotator was shown the guideline; None if nothing did, or they are new."""
    with reading(project.store) as db:
        seen, present, _ = rows.reading(db, person.annotator_id)
        if seen is None or seen == present:
            return None
        there = {one.version: one for one in facts.versions(db)}
    since = [there[number].reason for number in range(seen + 1, present + 1)]
    return News(present, since, changes(there[seen].grading, there[present].grading))


@permissions.annotator_only
def note_guideline_seen(project: Project, person: Annotator, version: int, *, now: float) -> None:
    """Record that an annotator was shown a version to its end.

    If there is a newer one by now, `guideline_news` tells them what is new in it.

    Raises:
        ProjectError: there is no such version.
    """
    with writing(project.store) as db:
        if not 1 <= version <= facts.version(db):
            raise ProjectError(said("the guideline has no version {version}: reload the page", version=version))
        rows.note_seen(db, person.annotator_id, version, at=now)


def due(db: Database, me: AnnotatorId) -> Reading | None:
    """Return what an annotator has to read, for callers that have checked who they are."""
    seen, present, tutorial = rows.reading(db, me)
    return to_read(seen, present, tutorial=tutorial)
