"""What a project is made of: videos, moments and captions."""

from collections.abc import Callable
from pathlib import Path

from backend.campaign.corpus import importing as corpus
from backend.campaign.corpus.importing import ImportReport
from backend.campaign.project.folder import Project


def import_corpus(
    project: Project,
    file: Path,
    format: str,  # noqa: A002 - the word of the public contract
    *,
    videos: Path | None = None,
    types: frozenset[str] | None = None,
    now: float,
    progress: Callable[[str, int, int], None] | None = None,
) -> ImportReport:
    """Take an annotation file into the project, or nothing of it; see `backend.campaign.corpus.importing`."""
    return corpus.import_file(
        project,
        file,
        format,
        videos=videos,
        types=types,
        now=now,
        progress=(lambda done, total: progress("measuring videos", done, total)) if progress else None,
    )
