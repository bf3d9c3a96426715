"""What a project is made of: videos, moments and captions."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.importing import importing as corpus
from backend.campaign.corpus.importing.importing import ImportReport
from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.monitoring.videos.check import settle_videos
from backend.campaign.nouns import Operator, Person
from backend.campaign.release.statistics import from_project, rules
from backend.campaign.release.statistics.model import Statistics
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core import lexicon
from backend.core.addresses import Place
from backend.core.progress import Progress, named
from backend.core.saying import said
from backend.core.where import Where
from backend.media.sources import USUAL_FPS


def import_corpus(
    project: Project,
    by: Person | Operator,
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
    """Take an annotation file into the project, or nothing of it; see `backend.campaign.corpus.importing.importing`."""
    report = corpus.import_file(
        project,
        permissions.require_in_charge(project.store, by),
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
        settle_videos(project, now=now)
    return report


def project_statistics(project: Project, by: Person | Operator, *, progress: Progress | None = None) -> Statistics:
    """Count what a project holds: its queries (its captions before there are any), moments and videos."""
    permissions.require_in_charge(project.store, by)
    holdings = from_project.read(project)
    return rules.count(
        holdings,
        lexicon.parts_of_speech,
        lexicon.name(),
        progress=named(progress, said("counting the words of queries")),
    )
