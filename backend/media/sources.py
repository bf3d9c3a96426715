"""Represent where a video is: a file, a folder of frames (as TVR is distributed), or an address.

Each frame of a folder is one picture file, at a steady rate. Frame i, counted from 0, is on screen from i / fps until
the next one.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from backend.core.addresses import SCHEMES, Address, Place
from backend.core.file_system import leads_out
from backend.core.messages import said
from backend.core.reading import on_disk

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
"""Extensions of frames in a folder."""

_MOST_MISSING = 0.2
"""If more than this share of the numbers is missing, they do not number the frames one by one (every eighth, say)."""

USUAL_FPS = Fraction(3)
"""Frames a second of TVR's folders."""


@dataclass(frozen=True, slots=True)
class FrameFolder:
    """A folder whose pictures are the frames of one video, `fps` of them a second."""

    path: Path
    fps: Fraction = USUAL_FPS

    @property
    def name(self) -> str:
        """The folder's name, for display."""
        return self.path.name

    @property
    def parent(self) -> Path:
        """The folder above it."""
        return self.path.parent


Source = Path | FrameFolder | Address
"""A video: a file, a folder of frames, or a file at an address."""


def source_at(path: Place, fps: Fraction = USUAL_FPS) -> Source:
    """Return the video at `path`; `fps` is used for a folder only, because files have their own rate."""
    return FrameFolder(path, fps) if isinstance(path, Path) and path.is_dir() else path


def place_in(folder: Path, stored: str) -> Place:
    """Return where a video is, from the text that a project stores: an address, or a path relative to `folder`."""
    return (
        Address(stored) if stored.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)) else on_disk(folder / stored)
    )


NOT_OPENED = said("is not a video file, or its index is missing")


def place_of_video(source: Source) -> Place:
    """Return where a video is; for a folder of frames, the folder."""
    return source.path if isinstance(source, FrameFolder) else source


def paths_of(sources: Iterable[Source]) -> list[Path]:
    """Return the local paths of several videos, without those at addresses."""
    return [place for place in map(place_of_video, sources) if isinstance(place, Path)]


def as_source(video: Source) -> Source:
    """Return the video; a path to a folder becomes a folder of frames at 3 frames a second, the rate of TVR."""
    return source_at(video) if isinstance(video, Path) else video


def is_picture(name: str) -> bool:
    """Return whether a file of this name can be a frame; files whose names begin with a dot are not frames."""
    return name.lower().endswith(PICTURES) and not name.startswith(".")


def frame_files(folder: Path) -> list[Path | None]:
    """Return the files of a folder's frames in order; None stands for a missing frame, found by a gap in the numbers.

    Files are sorted by the numbers in their names: `frame_9.jpg` comes before `frame_10.jpg`. If few numbers are
    missing between the first and the last, numbers are taken as positions. Otherwise the files simply follow one
    another.

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
    numbers = [int(digits[-1]) if (digits := re.findall(r"\d+", Path(name).stem)) else None for name in names]
    first, last = (numbers[0], numbers[-1]) if numbers else (None, None)
    if first is None or last is None or len(set(numbers)) < len(numbers):
        return list(files)
    places = last - first + 1
    if not len(files) < places <= len(files) * (1 + _MOST_MISSING):
        return list(files)
    by_number = dict(zip(numbers, files, strict=True))
    return [by_number.get(number) for number in range(first, last + 1)]


def linked_frame(folder: Path) -> Path | None:
    """Return a frame that is a link to a file outside the folder, perhaps a private picture; None if no frame is."""
    with os.scandir(folder) as entries:
        links = sorted(entry.name for entry in entries if is_picture(entry.name) and entry.is_symlink())
    return next((folder / name for name in links if leads_out(folder / name, folder)), None)


def _in_order(name: str) -> tuple[list[tuple[int, str]], str]:
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts], name


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """The measured facts of one video.

    Attributes:
        path: where it is.
        fps: exact average frame rate.
        sha256: hash of the content: a file's bytes, or a folder's frames and their rate.
        frames: number of frames that the video announces.
        size_bytes: size of the whole video.
        decoded: whether every frame was checked.
        damage: what is wrong with a video that can still be shown; empty if nothing is known.
    """

    path: str
    fps: Fraction
    duration_s: float
    width_px: int
    height_px: int
    has_audio: bool
    sha256: str
    codec: str = ""
    frames: int = 0
    size_bytes: int = 0
    decoded: bool = False
    damage: str = ""
