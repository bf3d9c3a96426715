"""The project's videos as they lie there now."""

from collections.abc import Collection, Sequence
from fractions import Fraction
from pathlib import Path

from backend.campaign.monitoring.videos import looking
from backend.campaign.monitoring.videos.model import LookReport, VideoState
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress, named
from backend.core.saying import said
from backend.core.where import Where
from backend.media.sources import USUAL_FPS
from backend.store.connection import writing


def look_at_videos(
    project: Project,
    by: Person | Operator,
    *,
    videos: Path | None = None,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    accept: Collection[str] = (),
    now: float,
    progress: Progress | None = None,
) -> LookReport:
    """Measure every video anew, and find those that were moved; see `backend.campaign.monitoring.videos.looking`.

    Raises:
        InputError: a video to accept is not one of the project, or has not changed.
    """
    return looking.look(
        project,
        permissions.require_in_charge(project.store, by),
        folder=videos,
        fps=fps,
        decode=decode,
        where=where,
        accept=accept,
        now=now,
        progress=named(progress, said("looking at videos")),
    )


def video_states(project: Project, by: Person | Operator, *, wrong: bool = False) -> Sequence[VideoState]:
    """Every video, or those with something wrong, with what was found the last time that somebody looked."""
    permissions.require_in_charge(project.store, by)
    return looking.states(project.store, wrong=wrong)


def settle_videos(project: Project, *, now: float) -> None:
    """Keep back or offer again the pairs of the videos that somebody took in a moment ago."""
    with writing(project.store) as db:
        looking.settle(db, now=now)
