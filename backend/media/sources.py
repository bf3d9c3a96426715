"""Where a video is: a file, or a folder of frames, one picture file for each, at a steady rate, as TVR is handed out.

The frame in the i-th place of a folder, counted from 0, is on screen from i / fps until the next one.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from backend.core.addresses import SCHEMES, Address, Place
from backend.core.links import leads_out
from backend.core.messages import said
from backend.core.reading import on_disk

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
"""What counts as a frame in a folder."""

_MOST_MISSING = 0.2
"""Numbers with larger holes than this share are no count of frames: of every eighth one, say."""

USUAL_FPS = Fraction(3)
"""Frames a second of TVR's folders."""


@dataclass(frozen=True, slots=True)
class FrameFolder:
    """A folder whose pictures are the frames of one video, `fps` of them a second."""

    path: Path
    fps: Fraction = USUAL_FPS

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path.name

    @property
    def parent(self) -> Path:
        """Where it lies."""
        return self.path.parent


Source = Path | FrameFolder | Address
"""A video: a file, a folder of frames, or a file at an address."""


def source_at(path: Place, fps: Fraction = USUAL_FPS) -> Source:
    """The video that lies at `path`; `fps` counts for a folder only, as files say their own."""
    return FrameFolder(path, fps) if isinstance(path, Path) and path.is_dir() else path


def place_in(folder: Path, stored: str) -> Place:
    """What a project wrote down: an address, or a path from its folder."""
    return Address(stored) if stored.startswith(tuple(f"{one}://" for one in SCHEMES)) else on_disk(folder / stored)


NOT_OPENED = said("is not a video file, or its index is missing")


def place_of_video(source: Source) -> Place:
    """Where a video lies; of a folder of frames, the folder."""
    return source.path if isinstance(source, FrameFolder) else source


def paths_of(sources: Iterable[Source]) -> list[Path]:
    """Where those of several videos lie that are no addresses."""
    return [place for place in map(place_of_video, sources) if isinstance(place, Path)]


def as_source(video: Source) -> Source:
    """The same; a plain path to a folder is one of frames at TVR's rate."""
    return source_at(video) if isinstance(video, Path) else video


def is_picture(name: str) -> bool:
    """Whether a file of this name is a frame; files named .something are what file managers leave."""
    return name.lower().endswith(PICTURES) and not name.startswith(".")


def frame_files(folder: Path) -> list[Path | None]:
    """The file of every frame, in order; None where the numbers of the others say that one is missing.

    The order is that of the numbers in their names: `frame_9.jpg` comes before `frame_10.jpg`. The numbers count as
    places where they run by ones with few holes; else the files follow one another.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for number in (8, 9, 10, 12, 13, 14):
    ...         (Path(folder) / f"f{number}.jpg").touch()
    ...     [file and file.stem for file in frame_files(Path(folder))]
    ['f8', 'f9', 'f10', None, 'f12', 'f13', 'f14']
    """
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if is_picture(entry.name)]
    names.sort(key=_in_order)
    files = [folder / name for name in names]
    numbers = [int(found[-1]) if (found := re.findall(r"\d+", Path(name).stem)) else None for name in names]
    first, last = (numbers[0], numbers[-1]) if numbers else (None, None)
    if first is None or last is None or len(set(numbers)) < len(numbers):
        return list(files)
    places = last - first + 1
    if not len(files) < places <= len(files) * (1 + _MOST_MISSING):
        return list(files)
    by_number = dict(zip(numbers, files, strict=True))
    return [by_number.get(number) for number in range(first, last + 1)]


def linked_frame(folder: Path) -> Path | None:
    """Return a frame that is a link out of the folder, which could show a private picture; None where there is none."""
    with os.scandir(folder) as entries:
        links = sorted(entry.name for entry in entries if is_picture(entry.name) and entry.is_symlink())
    return next((folder / name for name in links if leads_out(folder / name, folder)), None)


def _in_order(name: str) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts], name
