"""The human check of retrieval pools."""

from pathlib import Path

from backend.campaign.nouns import Operator, Person
from backend.campaign.selection.pool_check import making, reporting
from backend.campaign.selection.pool_check.model import CheckReport, MadeReport
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress
from backend.encoders import sentence


def make_pool_check(
    file: Path,
    folder: Path,
    videos: Path,
    *,
    queries: int = making.QUERIES,
    negatives: int = making.NEGATIVES,
    seed: int = 0,
    encoder: str | None = None,
    kind: str | None = None,
    now: float,
    progress: Progress | None = None,
) -> tuple[Project, MadeReport]:
    """A new project in which people check a sample of a file of pools, blind: does a whole video match a query.

    Raises:
        InputError: with everything that is wrong with the file, or the videos; nothing was made.
        ProjectError: the folder is a project already.
        EncoderUnavailable: the encoder cannot be found.
    """
    spec = sentence.resolve(encoder or "minilm", kind)
    return making.make(
        file,
        folder,
        videos,
        sentence.load(spec),
        queries_wanted=queries,
        negatives=negatives,
        seed=seed,
        settings=(spec.name, spec.kind),
        now=now,
        progress=progress,
    )


def pool_check_report(project: Project, by: Person | Operator) -> CheckReport | None:
    """The share of videos that stand wrongly in their pool; None in a project that checks no pools."""
    permissions.require_in_charge(project.store, by)
    return reporting.report(project.store)
