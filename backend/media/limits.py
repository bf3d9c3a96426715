"""Limit the time and memory for reading a video, and refuse hostile or broken files without stopping other work."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.core.processes import OutOfBounds, bounded
from backend.media.sources import Source, paths_of

FORMATS = "mov,matroska,avi,asf,mpeg,mpegts,mpegvideo,flv,ogg"
"""FFmpeg's names of the allowed formats; without playlists, which name other files and addresses."""

OPENED_AS = {"protocol_whitelist": "file", "format_whitelist": FORMATS}
"""Options for opening a file, which keep FFmpeg from reading any other file."""

LARGEST_PIXELS = 36_000_000
"""Largest picture: 8K (7680 x 4320) and a little more. It takes 54 MB, and a decoder holds up to 17."""

MOST_BOXES = 10_000
"""The most outermost boxes of an MP4 file that are examined."""

LEAST_CPU_S = 120.0
CPU_S_PER_MB = 10.0
CPU_S_PER_S = 30.0
"""Limits of processor time: for each video, for each megabyte of its file, and for each second of a clip.

Decoding takes some 0.2 s a megabyte; a long still picture takes ten times that. A small file that is made to be slow
is given up after two minutes.
"""


def cpu_s(source: Source, span_s: float = 0.0) -> float:
    """Return the limit of processor time in seconds for a video and `span_s` seconds of clips from it."""
    sizes = [os.stat(path).st_size for path in paths_of([source]) if path.is_file()]
    return LEAST_CPU_S + CPU_S_PER_MB * sum(sizes) / 1e6 + CPU_S_PER_S * span_s


@contextmanager
def within_bounds(source: Source, span_s: float = 0.0) -> Iterator[None]:
    """Limit the work on one video; raises `VideoUnreadable` if it exceeds the limits (see `bounded`)."""
    try:
        with bounded(cpu_s(source, span_s)):
            yield
    except OutOfBounds as out:
        raise VideoUnreadable.named(
            source.name, said("takes {out} to read: convert it to H.264, or leave it out", out=out)
        ) from None


def too_heavy(source: Source, died: str) -> VideoUnreadable:
    """Return the error about a video that ends every process that reads it; `died` says how these processes ended."""
    return VideoUnreadable.named(
        source.name,
        said(
            "ends every process that reads it ({died}): it is damaged, or needs more memory than there "
            "is. Convert it to H.264, or leave it out",
            died=died,
        ),
    )


def require_file(path: Path) -> None:
    """Refuse an existing path that is no file, because reading a pipe or a device may never end.

    Raises:
        VideoUnreadable: it exists and is no file. A missing path is accepted.
    """
    if path.exists() and not path.is_file():
        raise VideoUnreadable.named(path.name, said("is not a video file"))


def require_pixels(source: Source, width: int, height: int) -> None:
    """Refuse a picture of more than `LARGEST_PIXELS`.

    Raises:
        VideoUnreadable: it has more.
    """
    if width * height > LARGEST_PIXELS:
        raise VideoUnreadable.named(
            source.name,
            said(
                "has frames of {width} x {height} pixels, and the limit is {largest} million pixels: make "
                "them smaller first",
                width=width,
                height=height,
                largest=LARGEST_PIXELS // 1_000_000,
            ),
        )


def why_not_opened(path: Path) -> str:
    """Return why a file cannot be opened.

    MP4 and MOV files are judged by their outermost boxes, files of other formats by their first bytes.
    """
    length = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(8)
        if head[:4] in (b"\x1aE\xdf\xa3", b"RIFF"):
            return said("has a damaged index")
        if head[4:] not in (b"ftyp", b"mdat", b"moov", b"wide", b"free", b"skip"):
            return said("is not a video file")
        at = 0
        for _ in range(MOST_BOXES):
            if at + 8 > length:
                break
            file.seek(at)
            size, kind = int.from_bytes(file.read(4)), file.read(4)
            if size == 1:
                size = int.from_bytes(file.read(8))
            if kind == b"moov" and at + size <= length:
                return said("has a damaged index")
            if size < 8:
                break
            at += size
    return said("is incomplete (its index is missing): copy it again")
