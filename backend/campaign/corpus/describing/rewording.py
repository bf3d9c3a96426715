"""Read and change the guideline for describers; every version stays in the record.

*Reads* and *writes* describing_guideline; *writes* events.
"""

from backend.campaign.corpus.describing.model import DescribingGuideline
from backend.campaign.corpus.describing.rows import choices
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import reading, writing
from backend.store.events import EventKind

LONGEST_TEXT = 4000
LONGEST_REASON = 200


@permissions.in_charge
def describing_guideline(project: Project, by: Lead | Operator) -> DescribingGuideline:
    """Return the newest version of the guideline for describers."""
    with reading(project.store) as db:
        return choices.guideline(db)


@permissions.in_charge
def reword_describing(
    project: Project, by: Lead | Operator, text: str, reason: str, *, based_on: int | None = None, now: float
) -> int:
    """Let the guideline for describers say this from now on; everybody is shown it once more.

    Args:
        project: the project.
        by: who rewords it.
        text: all of it, a line a rule.
        reason: why, in a sentence that describers read too.
        based_on: the version that the lead looked at; None takes any.
        now: seconds since 1970.

    Returns:
        The number of the new version.

    Raises:
        Overtaken: another version came meanwhile.
        ProjectError: no words, too many, no reason, or nothing changed.
    """
    text = "\n".join(line for one in text.splitlines() if (line := tidy(one)))
    reason = tidy(reason)
    if not text:
        raise ProjectError(said("the guideline is empty: say what to mark and how to describe it"))
    if len(text) > LONGEST_TEXT:
        raise ProjectError(
            said(
                "the guideline has {length} signs: say it in {longest}",
                length=len(text),
                longest=LONGEST_TEXT,
            )
        )
    if not reason:
        raise ProjectError(said("a change needs a reason: say in one sentence why; describers read it"))
    if len(reason) > LONGEST_REASON:
        raise ProjectError(
            said(
                "the reason has {length} characters: say it in {longest}",
                length=len(reason),
                longest=LONGEST_REASON,
            )
        )
    with writing(project.store) as db:
        old = choices.guideline(db)
        if based_on is not None and based_on != old.version:
            who = old.by or said("the command line", _context="by")
            raise Overtaken(
                said(
                    "{who} changed it meanwhile (version {version}): look at it, then change yours",
                    who=who,
                    version=old.version,
                )
            )
        if text == old.text:
            raise ProjectError(said("nothing changed: the guideline says this already"))
        version = choices.add_guideline(db, text, reason, at=now, by=by.annotator_id)
        events.record(
            db,
            EventKind.DESCRIBING_REWORDED,
            at=now,
            actor=by.annotator_id,
            subject="describing",
            payload={"version": version, "reason": reason},
        )
    return version
