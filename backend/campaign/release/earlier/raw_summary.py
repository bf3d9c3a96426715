"""Summarise the raw annotations of any campaign, from a file; no project needed."""

from pathlib import Path
from typing import Any

from backend.campaign.nouns import Rounding
from backend.campaign.release.earlier.rules.raw_annotation import (
    PUBLISHED_TOLERANCE,
    RawAnnotations,
    read_raw,
    summarise,
)
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
    return dict(summarise(*read_raw_file(file, scale)))


def read_raw_file(file: Path, scale: str | None) -> tuple[RawAnnotations, int, Rounding]:
    """Return a file's annotations with the tolerance and rounding of the scale, TVR-Ranking's if None is named."""
    if scale is None:
        return read_raw(bytes_of(file), file.name), PUBLISHED_TOLERANCE, Rounding.HALF_UP
    grading = scale_file.named(scale)
    return read_raw(bytes_of(file), file.name, grading.scale.highest), grading.tolerance, grading.rounding
