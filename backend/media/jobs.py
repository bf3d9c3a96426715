"""What a clip is called and where it lies: of a moment, of a moment with context, of what a run predicted.

A storyboard lies beside its clip, and is made, kept and dropped like one.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from backend.media.sources import Source

PROFILE = "1: h264 veryfast crf 26, key frame every 25, at most 720 lines, aac 96k"
"""Names how `backend.media.cut` makes clips: change it with anything there, so that cached clips are cut anew."""

PREDICTED = "predicted-"
"""How the names of clips begin that show no moment of the project; the doctor knows them by it."""

STORYBOARD = "storyboard-1-"
"""How the names of storyboards begin; the number changes with how they are made."""
STORYBOARD_FRAMES = 8
"""The player has a button for each."""
STORYBOARD_WIDTH_PX = 240
"""Of a frame; twice what the desk shows, for dense screens."""

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

    source: Source
    identity: str
    start_s: float
    end_s: float
    path: Path
    max_cache_bytes: int
    before_s: float = 0.0
    after_s: float = 0.0


def clip_job(
    cache: Path,
    source: Source,
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


def predicted(job: ClipJob) -> ClipJob:
    """The job of a clip that shows no moment of the project, in the same folder and under the same size limit."""
    return replace(job, path=job.path.with_name(PREDICTED + job.path.name))


def storyboard(job: ClipJob) -> ClipJob:
    """The job of a storyboard: frames of the clip's span side by side, in the same folder and under its size limit."""
    return replace(job, path=job.path.with_name(f"{STORYBOARD}{job.path.stem}.webp"))


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


def is_cut(job: ClipJob, at: float | None = None) -> bool:
    """Whether a clip is there; marks it as used (at `at`, or now), because the cache drops the least recently used."""
    try:
        os.utime(job.path, None if at is None else (at, at))
    except FileNotFoundError:
        return False
    return True
