"""One moment of one video, as a file of its own; no project needed."""

from pathlib import Path

from backend.ground.arriving import require_room
from backend.ground.errors import InputError
from backend.media import cut as scissors
from backend.media.cut import CutReport


def cut(source: Path, start_s: float, end_s: float, out: Path) -> CutReport:
    """Write the moment `[start_s, end_s)` to a file that a person names; see `backend.media.cut.cut`.

    Raises:
        InputError: the span is none, or `out` is a folder, or the video itself.
        ProjectError: nothing can be written there.
        VideoUnreadable: nothing can be shown.
    """
    if out.is_dir():
        raise InputError.single(out, "is a folder: name a file")
    if out.exists() and source.exists() and out.samefile(source):
        raise InputError.single(out, "is the video itself: name another file")
    require_room(out)
    return scissors.cut(source, start_s, end_s, out)
