"""Raw annotations of any campaign, from a file; no project needed."""

from pathlib import Path
from typing import Any

from backend.campaign.earlier.rules.raw_annotation import read_raw, summarise
from backend.ground.reading import bytes_of


def summarise_raw(file: Path) -> dict[str, Any]:
    """The consensus rule and agreement over a raw annotation CSV."""
    return dict(summarise(read_raw(bytes_of(file), file.name)))
