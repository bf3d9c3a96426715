"""Ground truths and runs that a project keeps: added from files once, read back as columns."""

from pathlib import Path

from backend.campaign.board import kept_runs, rows
from backend.campaign.board.rows import Kept, Shelf
from backend.campaign.nouns import Person, Split
from backend.campaign.project.folder import Project
from backend.ground.errors import ProjectError
from backend.scoring.matching.columns import Run, Truth


def add_truth(project: Project, path: Path, *, name: str | None = None, by: Person | None = None, now: float) -> Kept:
    """Check a truth file as a whole and keep it; see `backend.campaign.board.kept_runs.add_truth`."""
    return kept_runs.add_truth(project, path, name=name, by=by, now=now)


def add_run(
    project: Project,
    path: Path,
    *,
    name: str | None = None,
    videos: Path | None = None,
    by: Person | None = None,
    now: float,
) -> Kept:
    """Check a run file as a whole and keep it; see `backend.campaign.board.kept_runs.add_run`."""
    return kept_runs.add_run(project, path, name=name, videos=videos, by=by, now=now)


def list_truths(project: Project) -> list[Kept]:
    """The kept ground truths, in the order in which they were added."""
    return rows.listed(project.store.db, Shelf.TRUTHS)


def list_runs(project: Project) -> list[Kept]:
    """The kept runs, in the order in which they were added."""
    return rows.listed(project.store.db, Shelf.RUNS)


def remove_truth(project: Project, name: str, *, by: Person | None = None, now: float) -> Kept:
    """Remove a kept ground truth; raises `ProjectError` if there is none of this name."""
    return kept_runs.remove(project, Shelf.TRUTHS, name, by=by, now=now)


def remove_run(project: Project, name: str, *, by: Person | None = None, now: float) -> Kept:
    """Remove a kept run; raises `ProjectError` if there is none of this name."""
    return kept_runs.remove(project, Shelf.RUNS, name, by=by, now=now)


def load_truth(project: Project, name: str) -> Truth:
    """A kept ground truth as columns; raises `ProjectError` if there is none of this name."""
    return kept_runs.load_truth(project, name)


def load_run(project: Project, name: str) -> Run:
    """A kept run as columns; raises `ProjectError` if there is none of this name."""
    return kept_runs.load_run(project, name)


def truth_of_project(project: Project, split: str) -> Truth:
    """The settled pairs of `val` or `test` as they stand now; raises `ProjectError` if there are none."""
    if split not in (Split.VAL, Split.TEST):
        raise ProjectError(f"{split!r} is not val or test: only these are judged")
    return kept_runs.truth_of_project(project, Split(split))
