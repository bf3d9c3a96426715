"""Cut one moment of one video into a file of its own; no project needed."""

from pathlib import Path

from backend.core.atomic_output import require_room
from backend.core.errors import InputError, VideoUnreadable
from backend.core.parallel import run_units
from backend.media import cut as scissors
from backend.media.gif import cut_gif
from backend.media.jobs import ClipForm, Profile
from backend.media.limits import too_heavy, within_bounds
from backend.media.report import CutReport, require_span

Moment = tuple[Path, float, float]
"""A video, and a span of it in seconds."""

GIF = "gif"
KINDS = (*(str(form) for form in ClipForm), GIF)
_LISTED = ", ".join(f".{kind}" for kind in KINDS[:-1]) + f" or .{KINDS[-1]}"


def cut(source: Path, start_s: float, end_s: float, out: Path) -> CutReport:
    """Write the moment `[start_s, end_s)` to a file that a person names; its extension says of what kind.

    See `backend.media.cut.cut` for `.mp4` and `.webm`, `backend.media.gif.cut_gif` for `.gif`.

    Raises:
        InputError: the span is none, or `out` is a folder, or the video itself, or has another extension.
        ProjectError: nothing can be written there.
        VideoUnreadable: nothing can be shown.
    """
    if out.is_dir():
        raise InputError.single(out, "is a folder: name a file")
    kind = out.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise InputError.single(out, f"has no extension of a clip: name it {_LISTED}")
    if out.exists() and source.exists() and out.samefile(source):
        raise InputError.single(out, "is the video itself: name another file")
    require_room(out)
    require_span(source, start_s, end_s)
    moment: Moment = (source, start_s, end_s)
    told: CutReport | VideoUnreadable
    (told,) = run_units(_made, out, [moment], apart=True, lost=_lost)
    if isinstance(told, VideoUnreadable):
        raise told
    return told


def _made(out: Path, moment: Moment) -> CutReport | VideoUnreadable:
    source, start_s, end_s = moment
    with within_bounds(source, end_s - start_s):
        if (kind := out.suffix.lower().removeprefix(".")) == GIF:
            return cut_gif(source, start_s, end_s, out)
        return scissors.cut(source, start_s, end_s, out, Profile(ClipForm(kind)))


def _lost(moment: Moment, died: str) -> VideoUnreadable:
    return too_heavy(moment[0], died)
