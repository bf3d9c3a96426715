"""Back up the database of a project, and list the copies that lie in its folder."""

from datetime import UTC, datetime
from pathlib import Path

from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import commands_only, in_charge, lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.private import make_private_folder
from backend.store import upkeep
from backend.store.upkeep import Backup

BACKUPS = "backups"
"""The folder of the project where its pages put copies."""


@commands_only
def backup(project: Project, file: Path) -> None:
    """Write a consistent, checked copy of the database while people work; by `pg_dump` if its name ends with `.dump`.

    Raises:
        ProjectError: the file exists already, or cannot be written; see `backend.store.upkeep.backup`.
    """
    upkeep.backup(project.store, file)


@lead_only
def backup_now(project: Project, lead: Lead, *, now: float) -> Path:
    """Write a consistent copy of the database under `backups/` of the project, while people work, and return its path.

    Raises:
        ProjectError: the copy cannot be made (the disk is full, the folder read-only); nothing is left behind.
    """
    file = project.folder / BACKUPS / datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S.db")
    try:
        make_private_folder(file.parent)
    except OSError as error:
        raise ProjectError(
            said("cannot make the folder {parent}: {strerror}", parent=file.parent, strerror=error.strerror)
        ) from error
    upkeep.backup(project.store, file)
    return file


@in_charge
def list_backups(project: Project, by: Lead | Operator) -> list[Backup]:
    """Return the copies of the database under `backups/` of the project, the newest first."""
    return upkeep.backups(project.folder / BACKUPS)
