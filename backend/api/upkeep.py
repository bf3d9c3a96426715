"""Keeping a project whole: backup, restore, migrate, doctor."""

from pathlib import Path

from backend.campaign.candidates.rows import agenda
from backend.campaign.doctor import examining as stage
from backend.campaign.doctor.examining import DoctorReport
from backend.campaign.project import folder as projects
from backend.campaign.project.folder import Project
from backend.store import upkeep
from backend.store.upkeep import Restored


def backup(project: Project, file: Path) -> None:
    """A consistent, checked copy of the database while people work."""
    upkeep.backup(project.store, file)


def restore(folder: Path, file: Path, *, now: float) -> Restored:
    """Put a copy in the place of a project's database, which may be damaged or gone, and keep that beside it."""
    return upkeep.restore(folder / projects.DATABASE_FILE, file, now=now)


def migrate(folder: Path) -> tuple[list[str], Path | None]:
    """Bring the database of a project up to date; (migrations applied, copy of the old state)."""
    return upkeep.migrate(folder / projects.DATABASE_FILE, derive=agenda.rebuild)


def doctor(project: Project, *, now: float, repair: bool = False) -> DoctorReport:
    """Check every invariant of a project; `repair` mends what is derived or disposable, never what people did."""
    return stage.examine(project, now=now, repair=repair)
