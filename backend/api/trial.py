"""Trial rounds: a few pairs that everybody grades blind, to talk about them and to refine the guideline."""

from collections.abc import Sequence

from backend.campaign.nouns import Operator, Person
from backend.campaign.qualification.exam import trying
from backend.campaign.qualification.exam.model import Trial
from backend.campaign.qualification.exam.planning import SEED
from backend.campaign.qualification.exam.setting import ExamReport
from backend.campaign.qualification.exam.trying import PAIRS, QUERIES
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId


def start_trial(
    project: Project,
    by: Person | Operator,
    *,
    queries: int = QUERIES,
    pairs: int = PAIRS,
    seed: int = SEED,
    chosen: Sequence[QueryId] = (),
    now: float,
) -> ExamReport:
    """Begin a trial round of the top candidates of a few queries, drawn or chosen; see `campaign.exam.trying`."""
    lead = permissions.require_in_charge(project.store, by)
    return trying.start(project.store, lead, queries=queries, pairs=pairs, seed=seed, chosen=chosen, now=now)


def trial_round(project: Project, by: Person | Operator) -> Trial | None:
    """The trial round that is open, or else the last one, with all answers and notes; None where there was none."""
    permissions.require_in_charge(project.store, by)
    return trying.newest(project.store)


def trial_csv(project: Project, by: Person | Operator, *, names: bool = True) -> str:
    """The answers of that round as CSV; an empty text where there was none."""
    permissions.require_in_charge(project.store, by)
    found = trying.newest(project.store)
    return trying.as_csv(found, names=names) if found else ""


def end_trial(project: Project, by: Person | Operator, *, now: float) -> bool:
    """End the trial round; whether one was open."""
    return trying.end(project.store, permissions.require_in_charge(project.store, by), now=now)
