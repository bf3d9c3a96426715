"""The other forms of a release, and what writing one reports."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from backend.campaign.release.export.model import ReleaseSelection


class ReleaseForm(StrEnum):
    """Forms beside that of TVR-Ranking."""

    TREC = "trec"
    PARQUET = "parquet"
    QVHIGHLIGHTS = "qvhighlights"


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A file that was written: which configuration and split of the dataset it is, and how much is in it."""

    config: str
    split: str
    path: str
    rows: int
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class FormReport:
    """What was written; `windows` only of QVHighlights, the moments whose relevance reaches `threshold`."""

    place: Path
    sha256: str
    """Of its manifest, which holds those of all other files."""
    files: tuple[str, ...]
    selection: ReleaseSelection
    simulated: int
    threshold: int | None
    windows: int | None
