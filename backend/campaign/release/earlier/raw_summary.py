"""Summarise the raw annotations of any campaign, from a file; no project needed."""

from pathlib import Path
from typing import Any

from backend.campaign.release.earlier.rules.raw_annotation import read_raw, summarise
from backend.campaign.setup.project import scale_file
from backend.core.reading import bytes_of


def summarise_raw(file: Path, *, scale: str | None = None) -> dict[str, Any]:
    """Apply the consensus rule to a raw annotation CSV, and compute agreement over it.

    Args:
        file: the CSV.
        scale: the name of a scale, or a file of one; TVR-Ranking's if None.

    Raises:
        InputError: the file, or that of the scale, has problems.
    """
    if scale is None:
        return dict(summarise(read_raw(bytes_of(file), file.name)))
    grading = scale_file.named(scale)
    raw = read_raw(bytes_of(file), file.name, highest=grading.scale.highest)
    return dict(summarise(raw, tolerance=grading.tolerance, rounding=grading.rounding))
