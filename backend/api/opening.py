"""Opening a project and counting what is in it: what almost every command does, and some do nothing else."""

from pathlib import Path
from typing import Any

from backend.campaign.nouns import Operator, Person
from backend.campaign.review import status
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project.folder import Project


def open_project(folder: Path) -> Project:
    """Open a project folder; raises `ProjectError`, `SchemaOutOfDate` or `InputError` (settings)."""
    return projects.open_project(folder)


def note_address(project: Project, url: str) -> int:
    """Keep where a server that begins will be reached; see `projects.note_address` for what it returns."""
    return projects.note_address(project, url)


def served_at(folder: Path) -> str:
    """Return where a project folder is being served; "" if nobody serves it."""
    return projects.served_at(folder)


def address(project: Project) -> str:
    """Where the project was served last, for links; the usual address if it never was."""
    return projects.address(project)


def status_counts(project: Project, by: Person | Operator) -> dict[str, Any]:
    """The counts of `reelrank status --json`, equal to what the screens show."""
    permissions.require_in_charge(project.store, by)
    return status.counts(project)


def next_step(project: Project, by: Person | Operator) -> str:
    """The command that brings the project nearer to its first grade; an empty text if none is needed."""
    permissions.require_in_charge(project.store, by)
    return status.next_step(project)
