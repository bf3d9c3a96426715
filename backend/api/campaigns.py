"""What comes into a project from earlier campaigns."""

from pathlib import Path

from backend.campaign.release.earlier import judgements as earlier_judgements
from backend.campaign.release.earlier.judgements import JudgementsReport
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress


def import_judgements(
    project: Project,
    raw: Path,
    pairs: Path | None = None,
    *,
    now: float,
    progress: Progress | None = None,
) -> JudgementsReport:
    """Take the raw annotations of an earlier campaign, or nothing."""
    return earlier_judgements.import_judgements(project, raw, pairs, now=now, progress=progress)
