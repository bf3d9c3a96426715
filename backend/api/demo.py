"""The demo project."""

from collections.abc import Callable, Sequence
from pathlib import Path

from backend.campaign.demo import building as demo
from backend.campaign.review import status
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import places
from backend.campaign.setup.project.folder import Project
from backend.core.errors import SchemaOutOfDate
from backend.core.progress import Progress
from backend.core.saying import said


def build_demo(
    folder: Path, *, judged: bool, now: float, progress: Progress, begins: Callable[[], object] = lambda: None
) -> Project:
    """Return the demo project, built if it is not there yet.

    Args:
        folder: where it is, or will be.
        judged: add simulated judgements, marked as such.
        now: seconds since 1970.
        progress: called with (what is done, done, all).
        begins: called if the project has to be built and nothing is in the way.

    Raises:
        ProjectError: the folder holds something else, or another command is building the demo there; see also
            `open_project`.
        SchemaOutOfDate: another version of ReelRank built it.
    """
    if places.is_project(folder):
        try:
            project = projects.open_project(folder)
        except SchemaOutOfDate as error:
            raise SchemaOutOfDate(
                said("{refusal}, or delete {folder} and begin a new demo", refusal=error.args[0], folder=folder)
            ) from None
        demo.require_demo(project)
        if judged:
            _judge(project, now=now, progress=progress)
        return project
    with demo.new_folder(folder) as part:
        begins()
        project = demo.build(part, now=now, progress=progress)
        if judged:
            _judge(project, now=now, progress=progress)
        project.store.close()
    return projects.open_project(folder)


def _judge(project: Project, *, now: float, progress: Progress) -> None:
    """Add simulated judgements and runs, unless they are there."""
    if not status.counts(project)["simulated"]:
        demo.simulate(project, now=now, progress=progress)
        demo.keep_runs(project, now=now)


def demo_people() -> tuple[str, Sequence[str], str]:
    """(lead, annotators, everybody's password) of the demo project."""
    return demo.LEAD, demo.ANNOTATORS, demo.PASSWORD
