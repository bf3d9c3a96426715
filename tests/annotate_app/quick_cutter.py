"""Make files that stand for clips, in no time; the clip cutter's process imports nothing else for it."""

import os
from pathlib import Path

from backend.core.errors import NoRoom, VideoUnreadable
from backend.media.jobs import ClipJob

CONTENT = bytes(range(256)) * 40
UNREADABLE, NO_ROOM, CRASHES = "friends_s01.mp4", "full.mp4", "crashes.mp4"
"""Videos of these names can't be cut."""


def cut(job: ClipJob) -> Path:
    """Write the clip, and its name to the list of all cuts beside it; a clip that is there is not cut again.

    Raises:
        VideoUnreadable, NoRoom: where the video's name says so.
    """
    video = str(job.source)
    if video.endswith(UNREADABLE):
        raise VideoUnreadable(f"{UNREADABLE} is not a video file")
    if video.endswith(NO_ROOM):
        raise NoRoom(f"The disk of {job.path.parent} is full, so no clip can be cut. Free some space:")
    if video.endswith(CRASHES):
        os._exit(7)
    if job.path.exists():  # as the real one: a request may have looked just before another's cut ended
        return job.path
    job.path.parent.mkdir(parents=True, exist_ok=True)
    with (job.path.parent / "cuts.log").open("a") as log:
        log.write(f"{job.path.name}\n")
    job.path.write_bytes(CONTENT)
    return job.path
