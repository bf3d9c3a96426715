"""Describe and name clips to make: of a moment, of a moment with context, or of what a scored system predicted.

Pictures of a moment (storyboard, thumbnail, GIF) are stored beside its clip, and made, kept and removed like clips.
"""

import os
import shutil
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
    """File formats of clips; the value is also the extension."""

    MP4 = "mp4"
    """H.264 and AAC: plays everywhere, and is the fastest to cut."""
    WEBM = "webm"
    """VP9 and Opus: free of patents."""


_MADE = {
    ClipForm.MP4: "2: h264 veryfast crf 26, key frame every 25, at most {} lines, aac 96k",
    ClipForm.WEBM: "2: vp9 realtime 7 crf 30, key frame every 25, at most {} lines, opus 96k",
}
"""Describes how `backend.media.encode` makes clips; change it with that module, so that cached clips are cut anew."""

DEFAULT_HEIGHT_PX = 720
DEFAULT_CACHE_BYTES = 20 * 1024**3
"""About 40,000 clips of 8 s."""
DEFAULT_CONTEXT_S = 2.0


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings for making clips: the format and the largest number of lines."""

    form: ClipForm = ClipForm.MP4
    height_px: int = DEFAULT_HEIGHT_PX

    @property
    def name(self) -> str:
        """All settings that affect a clip's content, as one text."""
        return _MADE[self.form].format(self.height_px)


@dataclass(frozen=True, slots=True)
class ClipCache:
    """A folder that holds only clips, and the settings for making them.

    Attributes:
        folder: the folder.
        profile: how clips are made.
        context_s: seconds shown before and after a moment on request.
        max_bytes: approximate limit of the folder's size.
        bucket: storage that several such folders share (see `clip_bucket`).
        signed_s: for how many seconds an address in the bucket is valid for a browser; with 0, browsers get none.
        secret: the campaign's secret, for naming files.
    """

    folder: Path
    profile: Profile = field(default_factory=Profile)
    context_s: float = DEFAULT_CONTEXT_S
    max_bytes: int = DEFAULT_CACHE_BYTES
    bucket: Address | None = None
    signed_s: float = 0.0
    secret: bytes = field(default=b"", repr=False)


class ClipKind(StrEnum):
    """The kinds of files made of a moment.

    The value is the prefix of the files' names (none for clips); it includes the version of the method that makes them.
    """

    CLIP = ""
    STORYBOARD = "storyboard-1-"
    THUMBNAIL = "thumbnail-1-"
    """One frame, from the middle of the moment."""
    GIF = "gif-1-"


PREDICTED = "predicted-"
"""Prefix of clips that show no moment of the project; the doctor recognises them by it."""

STORYBOARD_FRAMES = 8
"""The player has a button for each."""
STORYBOARD_WIDTH_PX = 240
"""Width of a frame; twice what the desk shows, for high-resolution screens."""
THUMBNAIL_WIDTH_PX = 192
"""Twice what lists show, for high-resolution screens."""

MEDIA_TYPES = {".mp4": "video/mp4", ".webm": "video/webm", ".webp": "image/webp", ".gif": "image/gif"}
"""Media types of the files made of moments, by extension."""
FINISHED = tuple(MEDIA_TYPES)
"""Extensions of finished files."""

SAFE_AGE_S = 600.0
"""A clip used within this many seconds may be on somebody's screen and is never removed."""


@dataclass(frozen=True, slots=True)
class ClipJob:
    """One clip to make: plain values, so that it can be passed to another process.

    `path` is the place of the finished clip; `identity` is the hash of the content of `source`. `before_s` and
    `after_s` are the seconds of context at the two ends of the span.
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
    """Return the description of a clip to make (its job), for the moment `[start_s, end_s)` of a video.

    The file name is a hash of everything that affects the content. So equal names are equal clips, and a replaced video
    is cut anew. The place of the video is not hashed, because files may move. Browsers see the name, so the hash is
    keyed with the campaign's secret. Without the secret nobody can find out which moment of a public corpus a clip
    shows.

    Args:
        cache: the folder of clips, with the settings for making them.
        source: the video.
        start_s: start in seconds.
        end_s: end in seconds.
        identity: the hash of the video's content.
    """
    start_s, end_s = float(start_s), float(end_s)
    digest = keyed_digest(cache.secret, "clip", cache.profile.name, identity, repr(start_s), repr(end_s))
    name = f"{digest[:40]}.{cache.profile.form}"
    return ClipJob(source, identity, start_s, end_s, cache.folder / name, cache)


def predicted(job: ClipJob) -> ClipJob:
    """Turn the job for a moment's clip into a job for the clip of a run's (a scored system's) prediction.

    A prediction is no moment of the project. Its clip is kept in the same folder under another name, and counts towards
    the folder's size limit.
    """
    return replace(job, path=job.path.with_name(PREDICTED + job.path.name))


def storyboard(job: ClipJob) -> ClipJob:
    """Return the job of a storyboard, frames of the clip's span side by side, in the same folder."""
    return _job_for(job, ClipKind.STORYBOARD, "webp")


def thumbnail(job: ClipJob) -> ClipJob:
    """Return the job of a thumbnail, a small picture of the frame in the middle of the clip's span."""
    return _job_for(job, ClipKind.THUMBNAIL, "webp")


def gif(job: ClipJob) -> ClipJob:
    """Return the job of the clip's span as a GIF, for slides and papers."""
    return _job_for(job, ClipKind.GIF, "gif")


def _job_for(job: ClipJob, kind: ClipKind, suffix: str) -> ClipJob:
    return replace(job, kind=kind, path=job.path.with_name(f"{kind}{job.path.stem}.{suffix}"))


def with_context(job: ClipJob, video_s: float) -> ClipJob:
    """Return the job for a moment's clip with context: some seconds of the video before and after the moment.

    The cache's setting `context_s` says how many seconds; `video_s` is the length of the video. The result is a
    separate clip; the moment's own clip stays. If the video's measured length ends before the moment does, the moment
    keeps its end. A context that the video's start or end cuts short is rounded down to tenths of a second. Annotators
    are told the length of the context, and a more exact number would tell them which moment it is.
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
    """The result of cutting clips before annotators need them.

    Attributes:
        there: clips that existed already.
        shared: clips that the shared bucket already had.
        stored: existing clips that were added to the bucket.
        cut: clips cut now.
        left: clips not begun, because the cache has no room for them.
        failed: jobs that failed, with the reason.
        warned: jobs with warnings.
    """

    there: int = 0
    shared: int = 0
    stored: int = 0
    cut: int = 0
    left: int = 0
    failed: tuple[tuple[ClipJob, str], ...] = ()
    warned: tuple[tuple[ClipJob, str], ...] = ()


def is_cut(job: ClipJob, at: float | None = None) -> bool:
    """Return whether a clip exists, and record that it was used at the time `at`, or now if that is None.

    The clips that were not used for longest are the first to be removed. If there is a link in place of the clip, it is
    deleted. ReelRank makes no links here, and through a link a browser could get any file of the machine.
    """
    if job.path.is_symlink():
        job.path.unlink(missing_ok=True)
    try:
        os.utime(job.path, None if at is None else (at, at))
    except FileNotFoundError:
        return False
    return True


def cached(cache: ClipCache) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files in a cache's folder of clips, finished or not, each with its file system status.

    A link counts as itself, not as its target. Callers delete what they get, so nothing is yielded if the folder or the
    one above it is a link to another place.
    """
    if cache.folder.is_dir() and not leads_out(cache.folder, cache.folder.parent.parent):
        for entry in os.scandir(cache.folder):
            with suppress(FileNotFoundError):  # another process may have removed it just now
                if not entry.is_dir(follow_symlinks=False):
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def held_bytes(cache: ClipCache) -> int:
    """Return the size of all finished clips in a cache's folder, in bytes."""
    return sum(stat.st_size for path, stat in cached(cache) if path.name.endswith(FINISHED))


def free_bytes(cache: ClipCache) -> int:
    """Return the free space on the disk of a cache's folder, in bytes; the folder need not exist yet."""
    return shutil.disk_usage(next(path for path in (cache.folder, *cache.folder.parents) if path.exists())).free
