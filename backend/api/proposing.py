"""Videos and moments of a project that no annotation file brought."""

from pathlib import Path

from backend.campaign.moments import registering
from backend.campaign.moments.model import RegisterReport
from backend.campaign.nouns import Lead, Operator, Person
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.ground.ids import AnnotatorId
from backend.ground.progress import Progress, named


def register_videos(
    project: Project, by: Person | Operator, videos: Path, *, now: float, progress: Progress | None = None
) -> RegisterReport:
    """Take the videos of a folder into the project; see `backend.campaign.moments.registering`."""
    who = gate.in_charge(project.store, by)
    return registering.register(
        project, videos, by=_name_of(who), now=now, progress=named(progress, "measuring videos")
    )


def _name_of(who: Lead | Operator) -> AnnotatorId | None:
    """Whose name goes on record; nobody's, of what the command line does."""
    return who.annotator_id if isinstance(who, Lead) else None
