"""Cut clips ahead: before people ask for them, in the order in which they will.

*Reads* agenda, pairs, candidates, videos. *Writes* clips in the cache; nothing in the database. A clip that cannot be
cut is told of; its pair is blocked when somebody is about to be shown it, because a folder of videos may be away for
an hour.
"""

from dataclasses import dataclass

from backend.campaign.monitoring.progress.rows import queue
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.messages import said
from backend.core.progress import Steps
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


@in_charge
def cut_queued_clips(
    project: Project,
    by: Lead | Operator,
    *,
    next_batches: bool = False,
    everything: bool = False,
    where: Where = HERE,
    progress: Steps | None = None,
) -> ClipsReport:
    """Cut the clips of what is queued that are not there yet; may be stopped and begun again at any time.

    Args:
        project: the project.
        by: a lead, or whoever runs commands.
        next_batches: also those of each query's next batch, which a lead may open.
        everything: also those of all candidates.
        where: where they are cut.
        progress: called with (clips done, all that are to be cut).

    Raises:
        NoRoom: the disk is full. What was cut until then stays.
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


@in_charge
def bucket_troubles(project: Project, by: Lead | Operator) -> list[str]:
    """Return what a lead should know of the bucket of clips, such as that it cannot be written.

    It is told as the bucket was met last: nothing is asked, so that pages do not wait.
    """
    from backend.media import clip_bucket

    return clip_bucket.troubles(project.clips)


@in_charge
def little_room(project: Project, by: Lead | Operator) -> str | None:
    """Return what a lead should know of the disk that clips are cut to; None while there is room."""
    left = free_bytes(project.clips)
    if left >= LITTLE_BYTES:
        return None
    return said(
        "The disk of {folder} has {left:.0f} MB left: soon no clip can be cut that is not there, and people wait for "
        "them. Make room there. Nothing is lost: clips are cut again once there is room.",
        folder=project.clips.folder,
        left=left / 1024**2,
    )
