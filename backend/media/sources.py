"""Where a video is: a file, or a folder of frames, one picture file for each, at a steady rate, as TVR is handed out.

The frame in the i-th place of a folder, counted from 0, is on screen from i / fps until the next one.
"""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

PICTURES = (".jpg", ".jpeg", ".png", ".webp")
"""What counts as a frame in a folder."""

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


Source = Path | FrameFolder
"""A video: a file, or a folder of frames."""


def source_at(path: Path, fps: Fraction = USUAL_FPS) -> Source:
    """The video that lies at `path`; `fps` counts for a folder only, as files say their own."""
    return FrameFolder(path, fps) if path.is_dir() else path


def as_source(video: Source) -> Source:
    """The same; a plain path to a folder is one of frames at TVR's rate."""
    return source_at(video) if isinstance(video, Path) else video


def is_picture(name: str) -> bool:
    """Whether a file of this name is a frame; files named .something are what file managers leave."""
    return name.lower().endswith(PICTURES) and not name.startswith(".")
