"""Two releases of anybody side by side. No project needed."""

from pathlib import Path

from backend.campaign.release.export import diffing
from backend.campaign.release.export.rules.diffing import ReleaseDiff
from backend.core.progress import Progress


def diff_releases(before: Path, after: Path, *, progress: Progress | None = None) -> ReleaseDiff:
    """What changed from one release to another, each a folder or a zip.

    Raises:
        InputError: one of them is no release.
    """
    return diffing.diff(before, after, progress=progress)


def diff_csv(found: ReleaseDiff) -> str:
    """Every change as CSV, a row each."""
    return diffing.as_csv(found)
