"""Add annotation files and folders of videos to a project, and block or free the pairs of their videos.

Adding itself is `corpus.importing` and `corpus.moments`. Pairs may exist by then, and one whose video cannot be shown
is kept back, so these verbs stand above judging.
"""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.importing.importing import ImportReport, import_file
from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.corpus.moments.model import RegisterReport
from backend.campaign.corpus.moments.registering import register_folder
from backend.campaign.monitoring.videos.check import settle
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import Place
from backend.core.messages import said
from backend.core.progress import Progress, named
from backend.core.where import Where
from backend.media.sources import USUAL_FPS
from backend.store.connection import writing


@in_charge
def import_corpus(
    project: Project,
    by: Lead | Operator,
    file: Path,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    *,
    videos: Place | None = None,
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    dry_run: bool = False,
    now: float,
    progress: Progress | None = None,
) -> ImportReport:
    """Import an annotation file: all of it, or nothing.

    Args:
        project: where to.
        by: who imports it; their name goes on record.
        file: the annotation file.
        format: one of `formats.FORMATS`; recognised from the content if None.
        videos: folder or address of the video files; without it the moments wait for a later import with it.
        types: the types of TVR's lines to keep, None for the paper's choice.
        columns: what columns or fields are called in the file: `{"start": "begin"}`.
        fps: frames a second of videos that are folders of frames.
        decode: look at every picture for damage inside; None does where that is cheap.
        where: where videos are measured; see `survey`.
        dry_run: check everything and write nothing.
        now: seconds since 1970.
        progress: called with (what is done, videos measured, all videos).

    Raises:
        InputError: every problem found, with its row; or none of the videos can be shown. Nothing was written.
    """
    report = import_file(
        project,
        by,
        file,
        format,
        videos=videos,
        options=ImportOptions(types, columns or {}),
        fps=fps,
        decode=decode,
        where=where,
        dry_run=dry_run,
        now=now,
        progress=named(progress, said("measuring videos")),
    )
    if videos is not None and not dry_run:
        with writing(project.store) as db:
            settle(db, now=now)
    return report


@in_charge
def register_videos(
    project: Project,
    by: Lead | Operator,
    videos: Path,
    *,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    now: float,
    progress: Progress | None = None,
) -> RegisterReport:
    """Add the videos of a folder, without any annotation file: all that can be read.

    Args:
        project: where to.
        by: who adds them; their name goes on record.
        videos: the folder; those below it count too.
        fps: frames a second of videos that are folders of frames.
        decode: look at every picture for damage inside; None does where that is cheap.
        where: where videos are measured; see `survey`.
        now: seconds since 1970.
        progress: called with (what is done, videos measured, all videos).

    Raises:
        InputError: no folder, no video in it, or none that can be read; nothing was written.
    """
    steps = named(progress, said("measuring videos"))
    report = register_folder(project, by, videos, fps=fps, decode=decode, where=where, now=now, progress=steps)
    with writing(project.store) as db:
        settle(db, now=now)
    return report
