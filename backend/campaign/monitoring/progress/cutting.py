"""Clips cut ahead: before people ask for them, in the order in which they will.

*Reads* agenda, pairs, candidates, videos. *Writes* clips in the cache; nothing in the database. A clip that cannot be
cut is told of; its pair is blocked when somebody is about to be shown it, because a folder of videos may be away for
an hour.
"""

from dataclasses import dataclass

from backend.campaign.monitoring.progress.rows import queue
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Steps
from backend.core.saying import said
from backend.core.where import HERE, Where
from backend.media.jobs import ClipJob, CutAhead, clip_job, free_bytes
from backend.media.sources import USUAL_FPS, place_in, source_at
from backend.store.connection import reading

LITTLE_BYTES = 200 * 1024**2
"""Less than this on the disk of the clips is worth a word to a lead."""


@dataclass(frozen=True, slots=True)
class ClipsReport:
    """What came of cutting ahead; `without_file` are videos of which nobody has shown the file yet."""

    clips: CutAhead
    without_file: tuple[str, ...]


def cut_queued(
    project: Project, *, next_batches: bool, everything: bool, where: Where = HERE, progress: Steps | None = None
) -> ClipsReport:
    """Cut the clips of what is queued that are not there; see `queue.moments` and `cut_ahead`.

    Raises:
        NoRoom: the disk is full.
    """
    from backend.media.together import cut_ahead  # decoders; what only looks at the work does without

    jobs: list[ClipJob] = []
    without_file: dict[str, None] = {}
    with reading(project.store) as db:
        for one in queue.moments(db, next_batches=next_batches, everything=everything):
            if one.path is None or one.sha256 is None:
                without_file[one.video] = None
                continue
            source = source_at(place_in(project.folder, one.path), one.fps or USUAL_FPS)
            jobs.append(clip_job(project.clips, source, one.start_s, one.end_s, one.sha256))
    return ClipsReport(cut_ahead(jobs, where, progress=progress), tuple(without_file))


def bucket_troubles(project: Project) -> list[str]:
    """What a lead should know of the bucket of clips, as it was met last; asks nothing, so that pages do not wait."""
    from backend.media import clip_bucket

    return clip_bucket.troubles(project.clips)


def little_room(project: Project) -> str | None:
    """What a lead should know of the disk that clips are cut to; None while there is room."""
    left = free_bytes(project.clips)
    if left >= LITTLE_BYTES:
        return None
    return said(
        "The disk of {folder} has {left:.0f} MB left: soon no clip can be cut that is not there, and people wait for "
        "them. Make room there. Nothing is lost: clips are cut again once there is room.",
        folder=project.clips.folder,
        left=left / 1024**2,
    )
