"""Who has to read the guideline before they grade, and who has.

*Reads* guideline versions. *Writes* guideline_seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.nouns import Annotator, Person
from backend.campaign.qualification.guideline import rows
from backend.campaign.qualification.guideline.model import Change, Reading
from backend.campaign.qualification.guideline.rules import changes, to_read
from backend.campaign.setup.project import rows as facts
from backend.core.errors import ProjectError
from backend.core.saying import said
from backend.store.connection import Store, reading, writing


@dataclass(frozen=True, slots=True)
class News:
    """What somebody is told of a guideline that changed since they were shown it.

    `reasons` are those of every version since, the oldest first.
    """

    version: int
    reasons: Sequence[str]
    changes: Sequence[Change]


def due(store: Store, person: Person) -> Reading | None:
    """What this person has to read now."""
    with reading(store) as db:
        seen, present, tutorial = rows.reading(db, person.annotator_id)
    return to_read(seen, present, tutorial=tutorial)


def news(store: Store, person: Person) -> News | None:
    """What changed since this person was shown the guideline; None if nothing did, or they are new."""
    with reading(store) as db:
        seen, present, _ = rows.reading(db, person.annotator_id)
        if seen is None or seen == present:
            return None
        there = {one.version: one for one in facts.versions(db)}
    since = [there[number].reason for number in range(seen + 1, present + 1)]
    return News(present, since, changes(there[seen].grading, there[present].grading))


def note_seen(store: Store, person: Annotator, version: int, *, now: float) -> None:
    """This person was shown a version to its end. It may be an older one by now; then they are told what is new.

    Raises:
        ProjectError: there is no such version.
    """
    with writing(store) as db:
        if not 1 <= version <= facts.version(db):
            raise ProjectError(said("the guideline has no version {version}: reload the page", version=version))
        rows.note_seen(db, person.annotator_id, version, at=now)
