"""Identify a video by its content, wherever it is: the name that clips are kept by."""

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from backend.core.addresses import Address
from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.limits import require_file
from backend.media.sources import FrameFolder, Source, as_source, frame_files

_KEPT = 4096
"""So many videos' names are kept in a process."""


def sha256_of(source: Source) -> str:
    """The content's name, in hex: of a file SHA-256 of its bytes; of a folder, of its frames in order and their rate.

    Of what lies at an address it is made of the size and of the storage's own mark, and nothing is read.

    Raises:
        VideoUnreadable: it is not there any more, or may not be read.
        StorageUnavailable: it lies at an address that cannot be asked just now.
    """
    source = as_source(source)
    if isinstance(source, Address):
        from backend.media.remote import content_of

        return content_of(source)
    if isinstance(source, Path):
        require_file(source)
    try:
        return _sha256_of(source, _stamp(_files(source)))
    except OSError as error:
        raise VideoUnreadable.about(
            source.name, said("no video file in {parent} ({strerror})", parent=source.parent, strerror=error.strerror)
        ) from None


def size_of(source: Source) -> int:
    """Bytes of all of it; raises `OSError` where it is not there."""
    source = as_source(source)
    if isinstance(source, Address):
        from backend.media.remote import size_at

        return size_at(source)
    return sum(size for size, _ in _stamp(_files(source)))


def changed_words(path: str) -> str:
    """What a person is told of a video that has another content now."""
    return said("{name} has changed since it was added to the project", name=Path(path).name)


def _files(source: Path | FrameFolder) -> list[Path | None]:
    return frame_files(source.path) if isinstance(source, FrameFolder) else [source]


def _stamp(files: Iterable[Path | None]) -> tuple[tuple[int, int], ...]:
    """Size and date of every file; no place for one that is missing."""
    return tuple((told.st_size, told.st_mtime_ns) for file in files if file is not None and (told := file.stat()))


@lru_cache(maxsize=_KEPT)
def _sha256_of(source: Path | FrameFolder, stamp: tuple[tuple[int, int], ...]) -> str:
    if isinstance(source, Path):
        with source.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    found = hashlib.sha256(f"frames, {source.fps} a second\n".encode())
    for place, file in enumerate(frame_files(source.path)):
        if file is not None:
            data = file.read_bytes()
            found.update(f"{place} {len(data)}\n".encode())
            found.update(data)
    return found.hexdigest()
