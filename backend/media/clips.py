"""Keep clips and storyboards in a folder, made when first needed; the least recently used are removed first."""

import errno
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from backend.core.days import lasts
from backend.core.errors import NoRoom
from backend.core.file_system import make_private, make_private_folder
from backend.core.leftovers import PART, abandoned, part_of
from backend.core.locking import locked
from backend.media import clip_bucket
from backend.media.cut import cut
from backend.media.gif import cut_gif
from backend.media.jobs import (
    FINISHED,
    SAFE_AGE_S,
    STORYBOARD_FRAMES,
    STORYBOARD_WIDTH_PX,
    THUMBNAIL_WIDTH_PX,
    ClipCache,
    ClipJob,
    ClipKind,
    cached,
    held_bytes,
    is_cut,
)
from backend.media.limits import within_bounds
from backend.media.probe import require_unchanged
from backend.media.strip import film_strip

Made = TypeVar("Made")

_FULL = (errno.ENOSPC, errno.EDQUOT)
_DROPPED_BYTES = 200 * 1024**2
"""Bytes removed at once when the disk is full: some hundred clips, so that it is not repeated for every clip."""


def ensure(job: ClipJob, now: Callable[[], float] = time.time) -> Path:
    """Return the path of a finished clip; cut it now unless it is in the folder of clips or in the shared bucket.

    If several processes ask for the same clip at once, one of them cuts it.

    Args:
        job: the clip to cut, with its cache.
        now: returns seconds since 1970-01-01 UTC; decides which clips were used least recently.

    Raises:
        VideoUnreadable: the moment cannot be shown, or the video's content is not the content that the project knows.
            Nothing is left behind, so a later call tries again.
        NoRoom: the disk is full even after clips were removed; nothing is left behind.
    """
    if not is_cut(job, now()):
        with_room(job.cache, lambda: _ensure(job, now), now)
    return job.path


def with_room(cache: ClipCache, make: Callable[[], Made], now: Callable[[], float] = time.time) -> Made:
    """Return the result of `make`; if the disk is full, remove the least recently used clips and call `make` again.

    Raises:
        NoRoom: the disk is still full afterwards.
    """
    try:
        return make()
    except OSError as error:
        if error.errno not in _FULL:
            raise
    if _evict(cache, held_bytes(cache) - _DROPPED_BYTES, now()):
        try:
            return make()
        except OSError as error:
            if error.errno not in _FULL:
                raise
    raise NoRoom.said(
        "The disk of {folder} is full, so no clip can be cut. Free some space: nothing is lost, and "
        "cutting goes on by itself.",
        folder=cache.folder,
    )


def _ensure(job: ClipJob, now: Callable[[], float]) -> None:
    make_private_folder(job.path.parent)
    with locked(job.path.with_suffix(".lock")):
        if not is_cut(job, now()):
            if not clip_bucket.brought(job, now()):
                require_unchanged(job.source, job.identity)
                with within_bounds(job.source, job.end_s - job.start_s):
                    _make(job)
                make_private(job.path)
                clip_bucket.stored(job, now())
            is_cut(job, now())
            _evict(job.cache, job.cache.max_bytes, now(), newest=job.path)


def _make(job: ClipJob) -> None:
    if job.kind is ClipKind.CLIP:
        cut(job.source, job.start_s, job.end_s, job.path, job.cache.profile)
    elif job.kind is ClipKind.GIF:
        cut_gif(job.source, job.start_s, job.end_s, job.path)
    else:
        part = part_of(job.path)
        try:
            part.write_bytes(_picture(job))
            part.replace(job.path)
        finally:
            part.unlink(missing_ok=True)


def _picture(job: ClipJob) -> bytes:
    if job.kind is ClipKind.STORYBOARD:
        size = {"frames": STORYBOARD_FRAMES, "width_px": STORYBOARD_WIDTH_PX}
        return film_strip(job.source, job.start_s, job.end_s, **size)
    middle_s = (job.start_s + job.end_s) / 2
    return film_strip(job.source, middle_s, middle_s, frames=1, width_px=THUMBNAIL_WIDTH_PX)


def _evict(cache: ClipCache, max_bytes: int, now: float, newest: Path | None = None) -> int:
    """Remove clips, least recently used first, until the folder holds at most `max_bytes`; return the bytes removed.

    Never removed: `newest`, and clips used within `SAFE_AGE_S`. Times further ahead than that are from before the clock
    was set back. Unfinished files of killed processes are removed; if the process cannot be known, once they are older
    than `SAFE_AGE_S`.
    """
    clips: list[tuple[float, int, Path]] = []
    freed = 0
    for path, stat in cached(cache):
        if path.name.endswith(FINISHED):
            clips.append((stat.st_mtime, stat.st_size, path))
        elif path.suffix == PART and abandoned(path, now, SAFE_AGE_S):
            path.unlink(missing_ok=True)
            freed += stat.st_size
    total = sum(size for _, size, _ in clips)
    for used, size, path in sorted(clips):
        if total <= max_bytes:
            break
        if path != newest and not lasts(used, SAFE_AGE_S, now=now):
            path.unlink(missing_ok=True)
            total -= size
            freed += size
    return freed
