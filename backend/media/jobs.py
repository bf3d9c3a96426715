"""Name clips and their files: of a moment, of a moment with context, of what a run predicted.

Pictures of a moment (storyboard, thumbnail, GIF) lie beside its clip, and are made, kept and dropped like one.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import floor
from pathlib import Path

from backend.core.addresses import Address
from backend.core.file_system import leads_out
from backend.core.ids import keyed_digest
from backend.media.sources import Source


class ClipForm(StrEnum):
    """What kind of file a clip is; its value is the extension too."""

    MP4 = "mp4"
    """H.264 and AAC: played everywhere, and quickest to cut."""
    WEBM = "webm"
    """VP9 and Opus: free of patents."""


_MADE = {
    ClipForm.MP4: "2: h264 veryfast crf 26, key frame every 25, at most {} lines, aac 96k",
    ClipForm.WEBM: "2: vp9 realtime 7 crf 30, key frame every 25, at most {} lines, opus 96k",
}
"""Names how `backend.media.encode` makes clips: change it with anything there, so that cached clips are cut anew."""

DEFAULT_HEIGHT_PX = 720
DEFAULT_CACHE_BYTES = 20 * 1024**3
"""About 40,000 clips of 8 s."""
DEFAULT_CONTEXT_S = 2.0


@dataclass(frozen=True, slots=True)
class Profile:
    """How clips are made: their form, and how many lines they have at most."""

    form: ClipForm = ClipForm.MP4
    height_px: int = DEFAULT_HEIGHT_PX

    @property
    def name(self) -> str:
        """Everything about making a clip that decides its content."""
        return _MADE[self.form].format(self.height_px)


@dataclass(frozen=True, slots=True)
class ClipCache:
    """A folder that holds clips and nothing else, and how its clips are made.

    `context_s` seconds are shown before and after a moment to whoever asks for its context; the folder holds about
    `max_bytes` at most. `bucket` is shared by several such folders (see `clip_bucket`); browsers are sent to it with
    addresses that hold for `signed_s` seconds, or never where that is 0. `secret` is the campaign's: it names files.
    """

    folder: Path
    profile: Profile = field(default_factory=Profile)
    context_s: float = DEFAULT_CONTEXT_S
    max_bytes: int = DEFAULT_CACHE_BYTES
    bucket: Address | None = None
    signed_s: float = 0.0
    secret: bytes = field(default=b"", repr=False)


class ClipKind(StrEnum):
    """What is made of a moment; its value is how the names of such files begin, with how they are made."""

    CLIP = ""
    STORYBOARD = "storyboard-1-"
    THUMBNAIL = "thumbnail-1-"
    """One frame, from the middle of the moment."""
    GIF = "gif-1-"


PREDICTED = "predicted-"
"""How names begin of what shows no moment of the project; the doctor knows them by it."""

STORYBOARD_FRAMES = 8
"""The player has a button for each."""
STORYBOARD_WIDTH_PX = 240
"""Of a frame; twice what the desk shows, for dense screens."""
THUMBNAIL_WIDTH_PX = 192
"""Twice what lists show, for dense screens."""

MEDIA_TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".webp": "image/webp", ".gif": "image/gif"}
"""What is made of moments, by how the names of its files end."""
FINISHED = tuple(MEDIA_TYPES)
"""How the names of all that is finished end."""

SAFE_AGE_S = 600.0
"""A clip used within so many seconds may be on somebody's screen and is never removed."""


@dataclass(frozen=True, slots=True)
class ClipJob:
    """One clip to be had: plain values, so that it can be handed to another process.

    `path` is where the finished clip lies; `identity` names the content of `source` (its sha256). `before_s` and
    `after_s` are the parts of the span at its two ends that are context, not moment.
    """

    source: Source
    identity: str
    start_s: float
    end_s: float
    path: Path
    cache: ClipCache
    kind: ClipKind = ClipKind.CLIP
    before_s: float = 0.0
    after_s: float = 0.0


def clip_job(cache: ClipCache, source: Source, start_s: float, end_s: float, identity: str) -> ClipJob:
    """The job for the moment `[start_s, end_s)`.

    The file name is a hash of everything that decides the content, so equal names are equal clips, and a video that
    was replaced is cut anew. `source` itself is not part of it: files may move. Browsers see the name, so the hash is
    keyed with the campaign's secret: without it nobody can find out which moment of a public corpus a clip shows.
    """
    start_s, end_s = float(start_s), float(end_s)
    digest = keyed_digest(cache.secret, "clip", cache.profile.name, identity, repr(start_s), repr(end_s))
    name = f"{digest[:40]}.{cache.profile.form}"
    return ClipJob(source, identity, start_s, end_s, cache.folder / name, cache)


def predicted(job: ClipJob) -> ClipJob:
    """The job of what shows no moment of the project, in the same folder and under the same size limit."""
    return replace(job, path=job.path.with_name(PREDICTED + job.path.name))


def storyboard(job: ClipJob) -> ClipJob:
    """The job of a storyboard: frames of the clip's span side by side, in the same folder and under its size limit."""
    return _beside(job, ClipKind.STORYBOARD, "webp")


def thumbnail(job: ClipJob) -> ClipJob:
    """The job of a thumbnail: the frame in the middle of the clip's span, small."""
    return _beside(job, ClipKind.THUMBNAIL, "webp")


def gif(job: ClipJob) -> ClipJob:
    """The job of the clip's span as a GIF, for slides and papers."""
    return _beside(job, ClipKind.GIF, "gif")


def _beside(job: ClipJob, kind: ClipKind, suffix: str) -> ClipJob:
    return replace(job, kind=kind, path=job.path.with_name(f"{kind}{job.path.stem}.{suffix}"))


def with_context(job: ClipJob, video_s: float) -> ClipJob:
    """The job for a moment's clip and the seconds on either side that the cache says, within a video of `video_s`.

    A clip of its own: the moment's is neither cut anew nor replaced. Where a video's measured length ends before the
    moment does, the moment keeps its end. A side that the video's start or end cuts short has whole tenths of a second,
    rounded down: annotators are told its length, and a longer number would tell them which moment it is.
    """
    before_s = _context_s(job.cache, job.start_s)
    after_s = _context_s(job.cache, video_s - job.end_s)
    # Annotations are decimal: 2.2 - 2.0 is a little more than 0.2 in floats, which would leave out the frame at 0.2.
    start_s, end_s = round(job.start_s - before_s, 6), round(job.end_s + after_s, 6)
    wide = clip_job(job.cache, job.source, start_s, end_s, job.identity)
    return replace(wide, before_s=before_s, after_s=after_s)


def _context_s(cache: ClipCache, there_s: float) -> float:
    return cache.context_s if there_s >= cache.context_s else floor(10 * max(0.0, round(there_s, 6)) + 1e-9) / 10


@dataclass(frozen=True, slots=True)
class CutAhead:
    """What came of cutting ahead: clips that were there, clips that were cut, what failed or is worth a word.

    `left` were not begun, because the clips would not have room in the cache. `shared` others have cut: they lay in
    the bucket. `stored` were there and the bucket lacked them.
    """

    there: int = 0
    shared: int = 0
    stored: int = 0
    cut: int = 0
    left: int = 0
    failed: tuple[tuple[ClipJob, str], ...] = ()
    warned: tuple[tuple[ClipJob, str], ...] = ()


def is_cut(job: ClipJob, at: float | None = None) -> bool:
    """Whether a clip is there; marks it as used (at `at`, or now), because the cache drops the least recently used.

    A link is none of ours: it would send any file of the machine to a browser. It goes.
    """
    if job.path.is_symlink():
        job.path.unlink(missing_ok=True)
    try:
        os.utime(job.path, None if at is None else (at, at))
    except FileNotFoundError:
        return False
    return True


def part_of(out: Path) -> Path:
    """The name that a file has until it is whole; no other process or thread has it."""
    return out.with_name(f"{out.name}.{os.getpid()}.{threading.get_ident()}.part")


def cached(cache: ClipCache) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files in the folder, finished or not, with what the file system says of each.

    A link counts as itself, not as its target. Callers delete what they get: where the folder or the one above it is a
    link to another place, there is nothing to get.
    """
    if cache.folder.is_dir() and not leads_out(cache.folder, cache.folder.parent.parent):
        for entry in os.scandir(cache.folder):
            with suppress(FileNotFoundError):  # another process may have removed it just now
                if not entry.is_dir(follow_symlinks=False):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def held_bytes(cache: ClipCache) -> int:
    """How much the finished clips take."""
    return sum(stat.st_size for path, stat in cached(cache) if path.name.endswith(FINISHED))


def free_bytes(cache: ClipCache) -> int:
    """Room on the disk of the folder, which need not be there yet."""
    return shutil.disk_usage(next(path for path in (cache.folder, *cache.folder.parents) if path.exists())).free
