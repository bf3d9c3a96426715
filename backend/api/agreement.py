"""How well the annotators of a project agree; `agreement_files` has what needs no project."""

from backend.campaign.monitoring.quality import agreement_board as boards
from backend.campaign.monitoring.quality.model import WHOLE, AggregatorReport, AgreementBoard, BoardPart
from backend.campaign.monitoring.quality.rules.aggregators import LEARNING
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress, named
from backend.scoring.statistics.bootstrap import RESAMPLES


def agreement_board(
    project: Project, by: Person | Operator, part: BoardPart = WHOLE, *, resamples: int = RESAMPLES
) -> AgreementBoard:
    """Everything about agreement as it stands now.

    Args:
        project: whose grades.
        by: a lead, or the machine's operator.
        part: of which pairs: those of a split, a query, a time.
        resamples: of the pairs, for 95 % intervals; 0 leaves intervals out, which takes a tenth of the time.

    Raises:
        ProjectError: there is no such split or query.
    """
    permissions.require_in_charge(project.store, by)
    return boards.report(project.store, part, resamples=resamples)


def agreement_version(project: Project, by: Person | Operator) -> str:
    """Changes whenever the board would."""
    permissions.require_in_charge(project.store, by)
    return boards.version(project.store)


def other_relevances(project: Project, by: Person | Operator, *, progress: Progress | None = None) -> AggregatorReport:
    """What mean, median and Dawid-Skene would make of the settled pairs; nothing becomes of it.

    Args:
        project: whose grades.
        by: a lead, or the machine's operator.
        progress: called with what is being done: seconds for a quarter of a million grades.
    """
    permissions.require_in_charge(project.store, by)
    return boards.other_relevances(project.store, progress=named(progress, LEARNING))
