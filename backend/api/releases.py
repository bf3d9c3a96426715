"""Make a project of a release."""

from pathlib import Path

from backend.campaign.release.export import importing
from backend.campaign.release.export.importing import ReleaseImport
from backend.core.progress import Progress
from backend.encoders import sentence


def import_release(
    path: Path,
    folder: Path,
    *,
    encoder: str | None = None,
    kind: str | None = None,
    now: float,
    progress: Progress | None = None,
) -> ReleaseImport:
    """Make a project of a release; see `backend.campaign.release.export.importing`.

    Its encoder is the one that the release says, if it can be named; else `encoder`, as for any new project.
    """
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    return importing.import_release(path, folder, (spec.name, spec.kind), now=now, progress=progress)
