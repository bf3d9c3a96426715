"""The bytes of a file that somebody names, packed with gzip or not, or a refusal that says why."""

import os
import zlib
from pathlib import Path

from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.text_files import utf8
from backend.core.typed_text import nfc

LARGEST_UNPACKED = 2 << 30
"""Bytes. A packed file that holds more is refused before it fills the memory."""

_GZIP = b"\x1f\x8b"
_STEP = 16 << 20


def bytes_of(path: Path) -> bytes:
    """The bytes of a file as they lie there.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return on_disk(path).read_bytes()
    except OSError as error:
        raise InputError.single(path, said("cannot be read: {strerror}", strerror=error.strerror)) from None


def on_disk(path: Path) -> Path:
    """Return the path that exists on the disk under another Unicode form of the same name; else the path as given.

    People and lists write names composed; a Mac, and what was copied from one, may have them decomposed.
    """
    if str(path).isascii() or path.exists():
        return path
    found = Path(path.anchor)
    for part in path.relative_to(found).parts:
        if not (found / part).exists() and found.is_dir():
            same = [name for name in os.listdir(found) if nfc(name) == nfc(part)]
            part = same[0] if len(same) == 1 else part
        found /= part
    return found


def unpack(content: bytes, file: str) -> bytes:
    """Return a text without gzip (one or more members after one another, whatever the file's name), in UTF-8.

    Raises:
        InputError: the data are cut off or damaged, or unpack to more than `LARGEST_UNPACKED`; or see `utf8`.
    """
    parts: list[bytes] = []
    total = 0
    while content[:2] == _GZIP:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                part = member.decompress(content, _STEP)
            except zlib.error as error:
                raise InputError.single(
                    file, said("is damaged: gzip cannot unpack it ({error})", error=error)
                ) from None
            total += len(part)
            if total > LARGEST_UNPACKED:
                message = said(
                    "unpacks to more than {largest:g} GiB: unpack it yourself if it is right",
                    largest=LARGEST_UNPACKED / 2**30,
                )
                raise InputError.single(file, message)
            parts.append(part)
            content = member.unconsumed_tail
            if not part and not member.eof and not content:
                raise InputError.single(file, said("is cut off: the end of the gzip data is missing"))
        content = member.unused_data.lstrip(b"\0")
    if not parts:
        return utf8(content, file)
    if content:
        raise InputError.single(file, said("is damaged: there is something else after the gzip data"))
    return utf8(parts[0] if len(parts) == 1 else b"".join(parts), file)


def unpacked(path: Path) -> bytes:
    """The bytes of a text file in UTF-8, out of gzip if they are packed.

    Raises:
        InputError: it cannot be read, or not be unpacked.
    """
    return unpack(bytes_of(path), str(path))
