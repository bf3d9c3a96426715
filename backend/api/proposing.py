"""Videos and moments of a project that no annotation file brought."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.moments import editing, proposing, registering, rows
from backend.campaign.corpus.moments.model import (
    ByShots,
    ByWindows,
    MomentRow,
    ProposeReport,
    RegisterReport,
    TakenMoments,
    VideoMoments,
)
from backend.campaign.monitoring.videos.check import settle_videos
from backend.campaign.nouns import Lead, Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId, MomentId
from backend.core.progress import Progress, named
from backend.core.saying import said
from backend.core.where import Where
from backend.media.sources import USUAL_FPS
from backend.store.connection import reading


def register_videos(
    project: Project,
    by: Person | Operator,
    videos: Path,
    *,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    now: float,
    progress: Progress | None = None,
) -> RegisterReport:
    """Take the videos of a folder into the project; see `backend.campaign.corpus.moments.registering`."""
    report = registering.register(
        project,
        videos,
        fps=fps,
        decode=decode,
        where=where,
        by=_in_charge(project, by),
        now=now,
        progress=named(progress, said("measuring videos")),
    )
    settle_videos(project, now=now)
    return report


def propose_moments(
    project: Project,
    by: Person | Operator,
    how: ByShots | ByWindows,
    *,
    videos: Sequence[str] | None = None,
    where: Where | None = None,
    now: float,
    progress: Progress | None = None,
) -> ProposeReport:
    """Propose shots or windows as moments; see `backend.campaign.corpus.moments.proposing`."""
    who = _in_charge(project, by)
    told = named(progress, said("looking for shots (seconds of video)"))
    return proposing.propose(project, how, videos=videos, where=where, by=who, now=now, progress=told)


def videos_and_moments(project: Project, by: Person | Operator) -> list[VideoMoments]:
    """Every video with the number of its moments, by name."""
    _in_charge(project, by)
    with reading(project.store) as db:
        return rows.videos(db)


def moments_of_video(project: Project, by: Person | Operator, video: str) -> list[MomentRow]:
    """The moments of a video, by time."""
    _in_charge(project, by)
    with reading(project.store) as db:
        return rows.of_video(db, video)


def change_moments(
    project: Project,
    by: Person | Operator,
    video: str,
    gone: Sequence[MomentId],
    come: Sequence[tuple[float, float]],
    *,
    now: float,
) -> None:
    """Remove, add or change moments of a video that nothing uses; see `backend.campaign.corpus.moments.editing`."""
    editing.change(project, video, gone, come, by=_in_charge(project, by), now=now)


def split_moment(project: Project, by: Person | Operator, moment: MomentId, at_s: float, *, now: float) -> None:
    """Make two moments of one."""
    editing.split(project, moment, at_s, by=_in_charge(project, by), now=now)


def join_moments(project: Project, by: Person | Operator, moments: Sequence[MomentId], *, now: float) -> None:
    """Make one moment of several."""
    editing.join(project, moments, by=_in_charge(project, by), now=now)


def take_moments(
    project: Project, by: Person | Operator, file: Path, *, only: bool = False, now: float
) -> TakenMoments:
    """Take the moments of a CSV file, all or none; with `only`, instead of those that nothing uses."""
    return editing.take_file(project, file, only=only, by=_in_charge(project, by), now=now)


def moments_csv(project: Project, by: Person | Operator) -> str:
    """All moments as a file that `take_moments` takes."""
    _in_charge(project, by)
    return editing.as_csv(project)


def _in_charge(project: Project, by: Person | Operator) -> AnnotatorId | None:
    """Whose name goes on record; nobody's, of what the command line does."""
    who = permissions.require_in_charge(project.store, by)
    return who.annotator_id if isinstance(who, Lead) else None
