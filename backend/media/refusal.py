"""Why a file cannot be opened as a video, in words for whoever brought it."""

from pathlib import Path

from backend.core.messages import said
from backend.media.limits import MOST_BOXES


def why_not_opened(path: Path) -> str:
    """Tell a stray file from a broken video by the outermost boxes (MP4, MOV) or the first bytes (others)."""
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
