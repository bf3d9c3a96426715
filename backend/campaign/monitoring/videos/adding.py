"""Preview the videos of a folder before they are added, and remove unused videos from the project.

*Reads* video files, folders of frames. *Writes* video, video_check, moment, shot, one event for a removal. Removing a
video leaves its file in place.
"""

import base64
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.importing.measuring import register_folder
from backend.campaign.corpus.importing.model import RegisterReport
from backend.campaign.monitoring.videos import rows
from backend.campaign.monitoring.videos.allowed_folders import require_allowed
from backend.campaign.monitoring.videos.model import VIDEOS_REMOVED
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Problem, VideoUnreadable
from backend.core.messages import said, said_n
from backend.core.parallel import run_units
from backend.core.progress import Progress, steps_of
from backend.core.typed_text import nfc
from backend.media.limits import within_bounds
from backend.media.sources import USUAL_FPS, Source
from backend.media.strip import film_strip
from backend.store import events
from backend.store.connection import writing

PICTURES = 24
"""How many videos of a preview have a picture. More would take long to draw."""


@dataclass(frozen=True, slots=True)
class VideoPicture:
    """A new video of a preview: its name, its length, and its middle frame as WebP in base64 ("" if there is none)."""

    name: str
    duration_s: float
    webp: str


@in_charge
def preview_videos(
    project: Project,
    by: Lead | Operator,
    videos: Path,
    *,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    now: float,
    progress: Progress | None = None,
) -> tuple[RegisterReport, list[VideoPicture]]:
    """Preview adding the videos of a folder: return the report, and pictures of the first videos. Nothing is written.

    The report says what `register_videos` would add and refuse. Arguments and errors are those of `register_videos`.
    """
    require_allowed(project, by, videos)
    steps = steps_of(progress, said("measuring videos"))
    report = register_folder(project, by, videos, fps=fps, decode=decode, dry_run=True, now=now, progress=steps)
    shown = [video for video in report.videos if video.new][:PICTURES]
    units = [(project.source(video.facts), video.facts.duration_s / 2) for video in shown]
    # In a separate process, because a damaged file may crash the one that reads it.
    drawn = run_units(
        _picture,
        None,
        units,
        called=lambda unit: unit[0].name,
        apart=True,
        lost=lambda unit, died: "",
        progress=steps_of(progress, said("drawing pictures")),
    )
    pictures = [
        VideoPicture(video.name, video.facts.duration_s, webp) for video, webp in zip(shown, drawn, strict=True)
    ]
    return report, pictures


def _picture(_: None, unit: tuple[Source, float]) -> str:
    source, middle_s = unit
    with suppress(VideoUnreadable, InputError), within_bounds(source):
        return base64.b64encode(film_strip(source, middle_s, middle_s, frames=1)).decode()
    return ""


@in_charge
def remove_videos(project: Project, by: Lead | Operator, videos: Collection[str], *, now: float) -> int:
    """Remove videos that nothing uses, with the moments proposed in them: all of these videos, or none.

    Their files stay in place.

    Returns:
        How many videos were removed.

    Raises:
        InputError: some videos are not in the project or are in use, each with the reason; or no video was named.
    """
    names = list(dict.fromkeys(nfc(name) for name in videos))
    with writing(project.store) as db:
        uses = rows.uses(db)
        problems = [Problem(name, None, why) for name in names if (why := _why_kept(uses.get(name)))]
        if problems or not names:
            raise InputError(problems or [Problem(said("videos"), None, said("choose at least one"))])
        rows.remove(db, names)
        events.note(db, VIDEOS_REMOVED, by, "videos", now=now, count=len(names), videos=names)
    return len(names)


def _why_kept(uses: tuple[int, int] | None) -> str:
    """Return why a video cannot be removed; an empty text if it can.

    `uses` is (number of its moments in use, number of its descriptions), or None if the project lacks the video.
    """
    if uses is None:
        return said("is not a video of this project")
    moments, others = uses
    if moments:
        return said_n(
            "stays, because captions, queries or grades use {n} of its moments",
            "stays, because captions, queries or grades use {n:,} of its moments",
            moments,
        )
    return said("stays, because people describe it") if others else ""
