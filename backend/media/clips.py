"""Keep moment clips in a folder: each is cut once, when first asked for, and the least recently used go first."""

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from backend.media.cut import PROFILE, CutReport, cut

__all__ = ["DEFAULT_CACHE_BYTES", "ClipJob", "CutReport", "clip_job", "cut", "ensure", "with_context"]

DEFAULT_CACHE_BYTES = 20 * 1024**3
"""About 40,000 clips of 8 s."""

CONTEXT_S = 2.0
"""Seconds shown before and after a moment to whoever asks for its context."""

SAFE_AGE_S = 600.0
"""A clip used within so many seconds may be on somebody's screen and is never removed."""


@dataclass(frozen=True, slots=True)
class ClipJob:
    """One clip to be had: plain values, so that it can be handed to another process.

    `path` is where the finished clip lies; `identity` names the content of `source` (its sha256). `before_s` and
    `after_s` are the parts of the span at its two ends that are context, not moment.
    """

    source: Path
    identity: str
    start_s: float
    end_s: float
    path: Path
    max_cache_bytes: int
    before_s: float = 0.0
    after_s: float = 0.0


def clip_job(
    cache: Path,
    source: Path,
    start_s: float,
    end_s: float,
    identity: str,
    max_cache_bytes: int = DEFAULT_CACHE_BYTES,
) -> ClipJob:
    """The job for the moment `[start_s, end_s)` in the folder `cache`, which holds clips and nothing else.

    The file name is a digest of everything that decides the content, so equal names are equal clips, and a video
    that was replaced is cut anew. `source` itself is not part of it: files may move.
    """
    start_s, end_s = float(start_s), float(end_s)
    key = "\n".join([PROFILE, identity, repr(start_s), repr(end_s)])
    name = hashlib.sha256(key.encode()).hexdigest()[:40] + ".mp4"
    return ClipJob(source, identity, start_s, end_s, cache / name, max_cache_bytes)


def with_context(job: ClipJob, video_s: float) -> ClipJob:
    """The job for a moment's clip and up to `CONTEXT_S` on either side, within a video of `video_s` seconds.

    A clip of its own: the moment's is neither cut anew nor replaced. Where a video's measured length ends before the
    moment does, the moment keeps its end.
    """
    before_s = min(CONTEXT_S, job.start_s)
    after_s = min(CONTEXT_S, max(0.0, video_s - job.end_s))
    # Annotations are decimal: 2.2 - 2.0 is a little more than 0.2 in floats, which would leave out the frame at 0.2.
    start_s, end_s = round(job.start_s - before_s, 6), round(job.end_s + after_s, 6)
    wide = clip_job(job.path.parent, job.source, start_s, end_s, job.identity, job.max_cache_bytes)
    return replace(wide, before_s=before_s, after_s=after_s)


def ensure(job: ClipJob, now: Callable[[], float] = time.time) -> Path:
    """The finished clip, cut now unless it is in the cache; of many processes asking at once, one cuts.

    Args:
        job: what to cut, and where to keep it.
        now: seconds since 1970-01-01 UTC; decides which clips were used least recently.

    Raises:
        VideoUnreadable: the moment cannot be shown; nothing is left behind, so asking again tries again.
    """
    if not _touched(job.path, now()):
        job.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(job.path.with_suffix(".lock")):
            if not _touched(job.path, now()):
                cut(job.source, job.start_s, job.end_s, job.path)
                _touched(job.path, now())
                _evict(job.path, job.max_cache_bytes, now())
    return job.path


def _touched(path: Path, at: float) -> bool:
    """Mark a clip as used just now; False where it is not there."""
    try:
        os.utime(path, (at, at))
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path` against other processes and threads; it is removed with the lock."""
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            # The holder before us removed the file it had locked: a later comer may be locking a new one.
            try:
                current = os.stat(path).st_ino == os.fstat(handle).st_ino
            except FileNotFoundError:
                current = False
            if not current:
                continue
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
        finally:
            os.close(handle)


def _evict(newest: Path, max_bytes: int, now: float) -> None:
    """Remove clips, least recently used first, until the folder holds at most `max_bytes`.

    Never removed: `newest`, and what was used within `SAFE_AGE_S`. Unfinished files that a killed process left
    go once they are that old.
    """
    clips: list[tuple[float, int, Path]] = []
    for entry in os.scandir(newest.parent):
        try:
            stat = entry.stat()
        except FileNotFoundError:  # removed by another process
            continue
        if entry.name.endswith(".mp4"):
            clips.append((stat.st_mtime, stat.st_size, Path(entry.path)))
        elif entry.name.endswith(".part") and stat.st_mtime < now - SAFE_AGE_S:
            Path(entry.path).unlink(missing_ok=True)
    held = sum(size for _, size, _ in clips)
    for used, size, path in sorted(clips):
        if held <= max_bytes or used > now - SAFE_AGE_S:
            return
        if path != newest:
            path.unlink(missing_ok=True)
            held -= size
