"""Look through releases of anybody: a folder or a zip. No project needed, and no database loaded."""

from pathlib import Path

from backend.campaign.release.export import validating
from backend.campaign.release.export.validating import ValidationReport
from backend.core.progress import Progress


def validate_release(path: Path, *, progress: Progress | None = None) -> ValidationReport:
    """Everything that is wrong with a release in the form of TVR-Ranking, made here or elsewhere.

    Raises:
        InputError: there is no release at this path.
    """
    return validating.validate(path, progress=progress)
