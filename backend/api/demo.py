"""The demo project."""

from collections.abc import Sequence
from pathlib import Path

from backend.campaign.demo import building as demo
from backend.campaign.project import places
from backend.campaign.project import folder as projects
from backend.campaign.project.folder import Project
from backend.campaign.review import status
from backend.ground.progress import Progress


def build_demo(folder: Path, *, judged: bool, now: float, progress: Progress) -> Project:
    """The demo project, built if it is not there yet; `judged` adds simulated judgements, marked as such."""
    if (folder / places.DATABASE_FILE).exists():
        project = projects.open_project(folder)
    else:
        project = demo.build(folder, now=now, progress=progress)
    if judged and not status.counts(project)["simulated"]:
        demo.simulate(project, now=now, progress=progress)
        demo.keep_runs(project, now=now)
    return project


def demo_people() -> tuple[str, Sequence[str], str]:
    """(lead, annotators, everybody's password) of the demo project."""
    return demo.LEAD, demo.ANNOTATORS, demo.PASSWORD
