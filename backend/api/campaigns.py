"""What comes into a project from earlier campaigns."""

from pathlib import Path

from backend.api.projects import Progress
from backend.stages import earlier_judgements
from backend.stages.earlier_judgements import JudgementsReport
from backend.store.project import Project


def import_judgements(
    project: Project, raw: Path, pairs: Path | None = None, *, now: float, progress: Progress | None = None
) -> JudgementsReport:
    """Take the raw annotations of an earlier campaign, or nothing of them; see `backend.stages.earlier_judgements`."""
    return earlier_judgements.import_judgements(project, raw, pairs, now=now, progress=progress)
