"""Read a folder of frames by exact time, and detect missing or damaged frames."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Literal

import av
from av.video.frame import VideoFrame

from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.limits import LARGEST_PIXELS
from backend.media.sources import PICTURES, FrameFolder, frame_files, linked_frame

_TICKS = 1000
"""Ticks of a folder's time line from one frame to the next."""

_Kind = Literal["mjpeg", "png", "webp"]
_KINDS: tuple[tuple[bytes, _Kind], ...] = ((b"\xff\xd8", "mjpeg"), (b"\x89PNG", "png"), (b"RIFF", "webp"))
"""First bytes of the files of each decoder; the file name does not matter."""


def place_at(time_s: float, fps: Fraction) -> int:
    """Return the index of the frame on screen at `time_s`: floor(time x fps), without float errors at a frame's start.

    >>> place_at(2.0, Fraction(3)), place_at(2.3, Fraction(3)), place_at(7 / 3, Fraction(3))
    (6, 6, 7)
    """
    place = floor(Fraction(time_s) * fps)
    return place + (float((place + 1) / fps) <= time_s)


class OpenFolder:
    """An open folder of frames, which are read one by one.

    Code for video files can use it in place of an open file, and also in place of the file's picture stream.

    Raises:
        VideoUnreadable: there is no such folder, it may not be read, it holds no pictures, or has a link to a file
            outside the folder.
    """

    sample_aspect_ratio = Fraction(1)

    def __init__(self, source: FrameFolder) -> None:
        try:
            self.files, link = frame_files(source.path), linked_frame(source.path)
        except (FileNotFoundError, NotADirectoryError):
            raise VideoUnreadable.about(
                source.name, said("no folder of frames in {parent}", parent=source.parent)
            ) from None
        except PermissionError:
            raise VideoUnreadable.named(source.name, said("cannot be opened: change its permissions")) from None
        if link is not None:
            raise VideoUnreadable.named(
                source.name,
                said("holds a link out of the folder, {link}: put the picture itself there", link=link.name),
            )
        if not self.files:
            raise VideoUnreadable.named(
                source.name, said("contains no frames: add {pictures} files", pictures=", ".join(PICTURES))
            )
        self.name = source.name
        self.average_rate = self.guessed_rate = source.fps
        self.interval_s = 1 / source.fps
        # Finer than a frame, because a clip's last frame ends with its moment, which may be between two frames.
        self.time_base = self.interval_s / _TICKS

    @property
    def width(self) -> int:
        """Width of the first frame that can be shown, in pixels."""
        return self._first.width

    @property
    def height(self) -> int:
        """Height of the first frame that can be shown, in pixels."""
        return self._first.height

    @property
    def codec(self) -> str:
        """Format of the first existing frame with a known format, or "unknown"."""
        heads = (file.read_bytes() for file in self.files if file is not None)
        return next((kind for head in heads if (kind := _kind_of(head))), "unknown")

    @property
    def duration_s(self) -> Fraction:
        """The end of the last frame, in seconds."""
        return len(self.files) * self.interval_s

    @cached_property
    def _first(self) -> VideoFrame:
        for place in range(len(self.files)):
            if (picture := self.picture(place)) is not None:
                return picture
        raise VideoUnreadable.named(self.name, said("is damaged: none of its frames can be shown"))

    def from_place(self, place: int) -> Iterator[tuple[int, VideoFrame | None]]:
        """Yield (index, picture) of frames, from the last frame at or before index `place` that can be shown.

        Indexes count from 0. The picture is None if a frame cannot be shown.
        """
        place = min(place, len(self.files) - 1)
        while place > 0 and self.picture(place) is None:
            place -= 1
        for at in range(place, len(self.files)):
            yield at, self.picture(at)

    def picture(self, place: int) -> VideoFrame | None:
        """Return the frame with index `place`, from 0, with its time; None if it is missing or damaged."""
        file = self.files[place]
        try:
            data = file.read_bytes() if file is not None else b""
            kind = _kind_of(data)
            # FFmpeg shows the upper part of a truncated JPEG file without an error.
            if kind is None or (kind == "mjpeg" and data.rfind(b"\xff\xd9") < data.rfind(b"\xff\xda")):
                return None
            context = av.CodecContext.create(kind, "r")
            context.thread_count = 1
            context.options = {"max_pixels": str(LARGEST_PIXELS)}
            pictures = [*context.decode(av.Packet(data)), *context.decode(None)]
        except (OSError, av.FFmpegError):
            return None
        if not pictures or pictures[0].is_corrupt:
            return None
        picture = pictures[0]
        picture.pts, picture.time_base = place * _TICKS, self.time_base
        return picture


def _kind_of(data: bytes) -> _Kind | None:
    return next((kind for start, kind in _KINDS if data.startswith(start)), None)
