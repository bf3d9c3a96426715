"""Dismiss quality flags that a lead has looked at. They come again once new work raises them by itself.

*Reads* what `flags` reads. *Writes* events.
"""

from collections.abc import Sequence

from backend.campaign.monitoring.quality import flags as quality
from backend.campaign.monitoring.quality.model import FLAG_DISMISSED, FLAG_NAMES, FlagKind
from backend.campaign.nouns import Lead
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import tidy
from backend.store import events
from backend.store.connection import writing

LONGEST_REASON = 200


@lead_only
def dismiss_flags(
    project: Project, lead: Lead, annotator_id: AnnotatorId, kinds: Sequence[FlagKind], reason: str, *, now: float
) -> None:
    """Dismiss flags of an annotator. The activity log keeps them with the reason.

    Args:
        project: the project.
        lead: who looked at them.
        annotator_id: whose flags.
        kinds: which flags.
        reason: why they need nothing; may be empty.
        now: seconds since 1970.

    Raises:
        Overtaken: one of them is not raised any more, or somebody has dismissed it.
        ProjectError: the reason is too long.
    """
    reason = tidy(reason)
    if len(reason) > LONGEST_REASON:
        raise ProjectError(
            said(
                "a reason has at most {longest} characters; this one has {length}",
                longest=LONGEST_REASON,
                length=len(reason),
            )
        )
    raised = {flag.kind for one in quality.flags(project, lead, annotator_id) for flag in one.raised}
    for kind in kinds:
        if kind not in raised:
            raise Overtaken(
                said("The flag “{flag}” is not raised any more, or was dismissed already.", flag=FLAG_NAMES[kind])
            )
    with writing(project.store) as db:
        for kind in kinds:
            subject = f"annotator:{annotator_id}"
            events.note(db, FLAG_DISMISSED, lead, subject, now=now, flag=kind.value, reason=reason)
