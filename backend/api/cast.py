"""The cast: who is in the captions, and what takes the place of each name."""

from collections.abc import Mapping

from backend.campaign.corpus.captions import cast
from backend.campaign.corpus.captions.cast import CastReport
from backend.campaign.corpus.captions.model import CastLine
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress


def propose_cast(project: Project, by: Person | Operator, *, progress: Progress | None = None) -> CastReport:
    """Write the names of the captions that the cast lacks, with a guess what they become, into `cast.csv`."""
    permissions.require_in_charge(project.store, by)
    return cast.propose_cast(project, progress=progress)


def cast_lines(project: Project, by: Person | Operator) -> tuple[CastLine, ...]:
    """The lines of `cast.csv`, in its order."""
    permissions.require_in_charge(project.store, by)
    return cast.lines_of(project)


def correct_cast(project: Project, by: Person | Operator, becomes: Mapping[str, str]) -> None:
    """Write what some names become into `cast.csv`, or nothing of it; all other lines stay.

    Raises:
        InputError: with these words the cast cannot be used.
    """
    permissions.require_in_charge(project.store, by)
    cast.correct(project, becomes)
