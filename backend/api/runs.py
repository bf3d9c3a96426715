"""Ground truths and runs that a project keeps: added from files once, read back as columns."""

from pathlib import Path

from backend.campaign.nouns import Operator, Person, Split
from backend.campaign.release.board import kept_runs, rows
from backend.campaign.release.board.rows import Kept, Shelf
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.saying import said
from backend.scoring.matching.columns import Run, Truth


def add_truth(project: Project, by: Person | Operator, path: Path, *, name: str | None = None, now: float) -> Kept:
    """Check a truth file as a whole and keep it; see `backend.campaign.release.board.kept_runs.add_truth`."""
    return kept_runs.add_truth(project, permissions.require_in_charge(project.store, by), path, name=name, now=now)


def add_run(
    project: Project,
    by: Person | Operator,
    path: Path,
    *,
    name: str | None = None,
    videos: Path | None = None,
    now: float,
) -> Kept:
    """Check a run file as a whole and keep it; see `backend.campaign.release.board.kept_runs.add_run`."""
    return kept_runs.add_run(
        project, permissions.require_in_charge(project.store, by), path, name=name, videos=videos, now=now
    )


def list_truths(project: Project, by: Person | Operator) -> list[Kept]:
    """The kept ground truths, in the order in which they were added."""
    permissions.require_in_charge(project.store, by)
    return rows.listed(project.store.db, Shelf.TRUTHS)


def list_runs(project: Project, by: Person | Operator) -> list[Kept]:
    """The kept runs, in the order in which they were added."""
    permissions.require_in_charge(project.store, by)
    return rows.listed(project.store.db, Shelf.RUNS)


def remove_truth(project: Project, by: Person | Operator, name: str, *, now: float) -> Kept:
    """Remove a kept ground truth; raises `ProjectError` if there is none of this name."""
    return kept_runs.remove(project, permissions.require_in_charge(project.store, by), Shelf.TRUTHS, name, now=now)


def remove_run(project: Project, by: Person | Operator, name: str, *, now: float) -> Kept:
    """Remove a kept run; raises `ProjectError` if there is none of this name."""
    return kept_runs.remove(project, permissions.require_in_charge(project.store, by), Shelf.RUNS, name, now=now)


def load_truth(project: Project, by: Person | Operator, name: str) -> Truth:
    """A kept ground truth as columns; raises `ProjectError` if there is none of this name."""
    permissions.require_in_charge(project.store, by)
    return kept_runs.load_truth(project, name)


def load_run(project: Project, by: Person | Operator, name: str) -> Run:
    """A kept run as columns; raises `ProjectError` if there is none of this name."""
    permissions.require_in_charge(project.store, by)
    return kept_runs.load_run(project, name)


def truth_of_project(project: Project, by: Person | Operator, split: str) -> Truth:
    """The settled pairs of `val` or `test` as they stand now; raises `ProjectError` if there are none."""
    permissions.require_in_charge(project.store, by)
    if split not in (Split.VAL, Split.TEST):
        raise ProjectError(said("{split!r} is not val or test: only these are judged", split=split))
    return kept_runs.truth_of_project(project, Split(split))
