"""Read truth, run and video map files into columns; every problem with its file and row.

Reads: these files, packed with gzip or not. Writes: nothing.
"""

from collections.abc import Mapping
from pathlib import Path

from backend.ground.reading import unpacked
from backend.scoring.files.formats import run_file, truth_file, video_map_file
from backend.scoring.matching.columns import Run, Truth


def read_truth(path: Path) -> Truth:
    """Truth in any of its forms; see `backend.scoring.files.formats`."""
    return truth_file(unpacked(path), str(path))


def read_run(path: Path, videos: Mapping[int, str] | None = None, truth: Truth | None = None) -> Run:
    """A run in any of its forms; `videos` (from `read_videos`) names videos given by index, `truth` those not given."""
    return run_file(unpacked(path), str(path), videos, truth)


def read_videos(path: Path) -> dict[int, str]:
    """`index -> name` of a map file `{name: [duration, index]}`."""
    return video_map_file(unpacked(path), str(path))
