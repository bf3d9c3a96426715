"""Releases of a project: what one made now would hold, making it, those that were made, their licence."""

from pathlib import Path

from backend.api.pipeline import encoder_needed
from backend.campaign.nouns import Operator, Person
from backend.campaign.release.export import changes, contents, export, keeping, terms
from backend.campaign.release.export.export import ReleaseReport
from backend.campaign.release.export.model import KeptRelease, ReleaseOptions, ReleaseSelection
from backend.campaign.release.export.rules.diffing import ReleaseDiff
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Terms
from backend.core.progress import Progress
from backend.store.connection import reading


def release_preview(project: Project, by: Person | Operator, options: ReleaseOptions | None = None) -> ReleaseSelection:
    """Which queries a release made now would hold, and which not."""
    permissions.require_in_charge(project.store, by)
    return contents.preview(project, options or ReleaseOptions())


def export_release(
    project: Project,
    by: Person | Operator,
    out: Path | None,
    options: ReleaseOptions | None = None,
    *,
    name: str | None = None,
    notes: str = "",
    keep: bool = True,
    now: float,
    progress: Progress | None = None,
) -> ReleaseReport:
    """Freeze a release of format tvr-ranking: into a new folder, among those that the project keeps, or both.

    Without `out` it is only kept; without `name` it is `release-N`, or called what the same release is called already.
    """
    in_charge, options = permissions.require_in_charge(project.store, by), options or ReleaseOptions()
    export.require_ready(project, options, out)  # before the encoder is loaded
    encoder = encoder_needed(project)
    return export.freeze(
        project, in_charge, encoder, out, options, name=name, notes=notes, keep=keep, now=now, progress=progress
    )


def list_releases(project: Project, by: Person | Operator) -> list[KeptRelease]:
    """The releases made so far, the newest first."""
    permissions.require_in_charge(project.store, by)
    return keeping.listed(project)


def release_file(project: Project, by: Person | Operator, name: str) -> Path:
    """The zip of a release that the project keeps.

    Raises:
        ProjectError: there is none of this name, or its file is not there.
    """
    permissions.require_in_charge(project.store, by)
    return keeping.file_of(project, name)


def release_terms(project: Project, by: Person | Operator) -> Terms:
    """Under which licence releases are handed on, and how to cite them."""
    permissions.require_in_charge(project.store, by)
    with reading(project.store) as db:
        return project_rows.terms(db)


def set_release_terms(
    project: Project,
    by: Person | Operator,
    *,
    licence: str | None = None,
    citation: str | None = None,
    reason: str = "",
    now: float,
) -> Terms:
    """Say licence and citation, or one of them; see `backend.campaign.release.export.terms`."""
    who = permissions.require_in_charge(project.store, by)
    return terms.set_terms(project.store, who, licence=licence, citation=citation, reason=reason, now=now)


def release_changes(
    project: Project, by: Person | Operator, before: str, after: str, *, progress: Progress | None = None
) -> ReleaseDiff:
    """What changed from one release to another, with what leads did in between.

    Each is named by its name in the project, or is a folder or zip.
    """
    permissions.require_in_charge(project.store, by)
    return changes.between(project, before, after, progress=progress)
