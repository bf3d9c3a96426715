"""Read and change the guideline's versions; tell annotators what to read, and record who has.

*Reads* grades, campaign, guideline_seen. *Writes* scale, guideline, guideline_version, guideline_seen, events. Every
version stays in the record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.nouns import Annotator, Lead, Operator
from backend.campaign.qualification.guideline import rows
from backend.campaign.qualification.guideline.rules import Change, Reading, changes, to_read
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import model, scale_file
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Grading, GuidelineVersion
from backend.core.errors import InputError, Overtaken, Problem, ProjectError
from backend.core.events import Event, EventGroup
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import Store, reading, writing

LONGEST_REASON = 200
FIXED = said("somebody has graded")
GUIDELINE_CHANGED = Event(
    "guideline_changed", EventGroup.TRAINING, said("wrote version {version} of the guideline ({changed})")
)
"""version, reason, changed: what of it has other words"""


@permissions.in_charge
def guideline_versions(project: Project, by: Lead | Operator) -> list[GuidelineVersion]:
    """Return all versions of the guideline, the oldest first; the last one is in force."""
    return facts.versions(project.store.db)


@permissions.in_charge
def guideline_readers(project: Project, by: Lead | Operator) -> dict[int, int]:
    """Return how many annotators were shown each version as their newest."""
    return rows.readers(project.store.db)


@permissions.in_charge
def reword_guideline(
    project: Project, by: Lead | Operator, new: Grading, reason: str, *, now: float, based_on: int | None = None
) -> tuple[int, list[Change]]:
    """Replace the guideline's words from now on.

    Once somebody has graded, the number of grades, the tolerance and the rounding stay as they are.

    Args:
        project: the project.
        by: who rewords it.
        new: all of it.
        reason: why, in a sentence that annotators read too.
        now: seconds since 1970.
        based_on: the version that the lead looked at; None takes any.

    Returns:
        The number of the new version, and what changed.

    Raises:
        InputError: everything that is wrong with the words.
        Overtaken: another version came meanwhile.
        ProjectError: no reason, or nothing changed.
    """
    return _reword(project.store, by, new, reason, now=now, based_on=based_on, source="the guideline")


@permissions.in_charge
def set_guideline_from_file(
    project: Project, by: Lead | Operator, file: Path, reason: str, *, now: float
) -> tuple[int, list[Change]]:
    """Replace the guideline's words by those of a file, in the form of `init --scale`; otherwise `reword_guideline`."""
    return _reword(project.store, by, scale_file.read(file), reason, now=now, based_on=None, source=str(file))


def _reword(
    store: Store, by: Lead | Operator, new: Grading, reason: str, *, now: float, based_on: int | None, source: str
) -> tuple[int, list[Change]]:
    reason = tidy(reason)
    if not reason:
        raise ProjectError(said("a change needs a reason: say in one sentence why; annotators read it"))
    if len(reason) > LONGEST_REASON:
        raise ProjectError(
            said(
                "the reason has {length} characters: say it in {longest}",
                length=len(reason),
                longest=LONGEST_REASON,
            )
        )
    with writing(store) as db:
        old, present = facts.grading(db), facts.version(db)
        wrong = list(
            model.grading_problems(new.scale.meanings, new.tolerance, new.example_query, new.questions, new.reminders)
        )
        if facts.has_graded(db):
            wrong += _fixed(old, new)
        if wrong:
            raise InputError([Problem(source, None, message) for message in wrong])
        if based_on is not None and based_on != present:
            who = facts.versions(db)[-1].by or said("the command line", _context="by")
            raise Overtaken(
                said(
                    "{who} changed the guideline meanwhile (version {present}): look at it, then change yours",
                    who=who,
                    present=present,
                )
            )
        changed = changes(old, new)
        if not changed:
            raise ProjectError(said("nothing changed: the guideline says this already"))
        number = facts.add_version(db, new, reason, by.annotator_id, at=now)
        events.record(
            db,
            GUIDELINE_CHANGED,
            at=now,
            actor=by.annotator_id,
            subject=f"guideline:{number}",
            payload={"version": number, "reason": reason, "changed": [one.where for one in changed]},
        )
    return number, changed


def _fixed(old: Grading, new: Grading) -> list[str]:
    """What differs beside the words."""
    found = []
    if len(old.scale.grades) != len(new.scale.grades):
        found.append(
            said(
                "has {n} grades: this campaign has {present}, and {fixed}",
                n=len(new.scale.grades),
                present=len(old.scale.grades),
                fixed=FIXED,
            )
        )
    if old.tolerance != new.tolerance:
        found.append(
            said(
                "tolerance is {tolerance}: that of this campaign is {old_tolerance}, and {fixed}",
                tolerance=new.tolerance,
                old_tolerance=old.tolerance,
                fixed=FIXED,
            )
        )
    if old.rounding is not new.rounding:
        found.append(
            said(
                "rounding is {rounding}: that of this campaign is {old_rounding}, and {fixed}",
                rounding=new.rounding.value,
                old_rounding=old.rounding.value,
                fixed=FIXED,
            )
        )
    return found


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
        seen, present, tutorial = rows.reading(db, person.annotator_id)
    return to_read(seen, present, tutorial=tutorial)


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
