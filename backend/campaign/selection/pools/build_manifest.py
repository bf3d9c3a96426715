"""Read what a build wrote beside its pools: its thresholds, and EMScore of each query with the videos of its pool.

*Reads* `manifest.json` and `pairs.csv` in the folder of a file of pools. Writes nothing.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from backend.campaign.selection.pools.building import MANIFEST, PAIRS
from backend.campaign.selection.pools.model import VisualBounds
from backend.core.errors import InputError
from backend.core.reading import UNDECODABLE, bytes_of
from backend.core.text_files import number, read_csv
from backend.core.typed_text import nfc


class _Manifest(msgspec.Struct, frozen=True):
    """What is needed of a manifest."""

    t_pos: float
    t_neg: float
    encoder: str
    files: dict[str, str]
    bounds: VisualBounds | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """Thresholds of s_te with the identity of their encoder, bounds of s_tv, and s_tv by (query id, video)."""

    encoder: str
    t_pos: float
    t_neg: float
    bounds: VisualBounds | None
    s_tv: Mapping[tuple[str, str], float]


def read_built(file: Path) -> Built | None:
    """What stands beside a file of pools; None where nothing does, or something about another file.

    Raises:
        InputError: a table of pairs cannot be read.
    """
    try:
        manifest = msgspec.json.decode((file.parent / MANIFEST).read_bytes(), type=_Manifest)
    except (OSError, *UNDECODABLE):
        return None
    if manifest.files.get(file.name) != hashlib.sha256(bytes_of(file)).hexdigest():
        return None
    seen = _read_pairs(file.parent / PAIRS) if manifest.bounds else {}
    return Built(manifest.encoder, manifest.t_pos, manifest.t_neg, manifest.bounds, seen)


def _read_pairs(path: Path) -> dict[tuple[str, str], float]:
    found = read_csv(bytes_of(path), path.name, ["query_id", "video", "s_tv"], numbers=["s_tv"])
    values, wrong = found.values("s_tv", number)
    if found.problems or wrong:
        row, text = wrong[0] if wrong else (found.problems[0].row, "")
        raise InputError.single(path.name, f"{text!r} is no s_tv: build the pools again", row)
    pairs = zip(found.columns["query_id"], found.columns["video"], values, strict=True)
    return {(nfc(query), nfc(video)): value for query, video, value in pairs if value is not None}
