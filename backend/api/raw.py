"""Raw annotations of any campaign, from a file; no project needed."""

from pathlib import Path
from typing import Any

from backend.campaign.release.earlier.rules.raw_annotation import read_raw, summarise
from backend.campaign.setup.project import scale_file
from backend.core.reading import bytes_of


def summarise_raw(file: Path, *, scale: str | None = None) -> dict[str, Any]:
    """The consensus rule and agreement over a raw annotation CSV, on TVR-Ranking's scale unless another is named."""
    if scale is None:
        return dict(summarise(read_raw(bytes_of(file), file.name)))
    grading = scale_file.named(scale)
    raw = read_raw(bytes_of(file), file.name, highest=grading.scale.highest)
    return dict(summarise(raw, tolerance=grading.tolerance, rounding=grading.rounding))
