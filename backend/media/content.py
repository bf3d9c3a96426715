"""Identify a video by a hash of its content, wherever it is stored. Names of clips are made from this hash."""

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
"""How many videos' hashes are cached in a process."""


def sha256_of(source: Source) -> str:
    """Return the hash of a video's content in hex: of a file's bytes, or of a folder's frames in order and their rate.

    A video at an address is not read: its size and the entity tag (ETag) that the storage reports are hashed. If there
    is no tag, the time of the last change is used.

    Raises:
        VideoUnreadable: the video no longer exists, or may not be read.
        StorageUnavailable: its address cannot be reached now.
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
    """Return the size of a video in bytes; raises `OSError` if it does not exist."""
    source = as_source(source)
    if isinstance(source, Address):
        from backend.media.remote import size_at

        return size_at(source)
    return sum(size for size, _ in _stamp(_files(source)))


def changed_words(path: str) -> str:
    """Return the message about a video whose content has changed."""
    return said("{name} has changed since it was added to the project", name=Path(path).name)


def _files(source: Path | FrameFolder) -> list[Path | None]:
    return frame_files(source.path) if isinstance(source, FrameFolder) else [source]


def _stamp(files: Iterable[Path | None]) -> tuple[tuple[int, int], ...]:
    """Return size and modification time of every file; missing frames are left out."""
    return tuple((status.st_size, status.st_mtime_ns) for file in files if file is not None and (status := file.stat()))


@lru_cache(maxsize=_KEPT)
def _sha256_of(source: Path | FrameFolder, stamp: tuple[tuple[int, int], ...]) -> str:
    if isinstance(source, Path):
        with source.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    digest = hashlib.sha256(f"frames, {source.fps} a second\n".encode())
    for place, file in enumerate(frame_files(source.path)):
        if file is not None:
            data = file.read_bytes()
            digest.update(f"{place} {len(data)}\n".encode())
            digest.update(data)
    return digest.hexdigest()
