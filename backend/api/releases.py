"""Releases of anybody, as they are handed on: a folder or a zip. No project needed."""

from pathlib import Path

from backend.campaign.release import importing, validating
from backend.campaign.release.importing import ReleaseImport
from backend.campaign.release.validating import ValidationReport
from backend.encoders import sentence
from backend.ground.progress import Progress


def validate_release(path: Path, *, progress: Progress | None = None) -> ValidationReport:
    """Everything that is wrong with a release in the form of TVR-Ranking, made here or elsewhere.

    Raises:
        InputError: there is no release at this path.
    """
    return validating.validate(path, progress=progress)


def import_release(
    path: Path,
    folder: Path,
    *,
    encoder: str | None = None,
    kind: str | None = None,
    now: float,
    progress: Progress | None = None,
) -> ReleaseImport:
    """Make a project of a release; see `backend.campaign.release.importing`.

    Its encoder is the one that the release says, if it can be named; else `encoder`, as for any new project.
    """
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    return importing.import_release(path, folder, (spec.name, spec.kind), now=now, progress=progress)
