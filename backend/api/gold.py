"""Silent gold: what leads do about it, and how people did."""

from pathlib import Path

from backend.campaign.nouns import Operator, Person
from backend.campaign.qualification.gold import results
from backend.campaign.qualification.gold import setting as gold
from backend.campaign.qualification.gold.results import GoldPerson
from backend.campaign.qualification.gold.setting import PAIRS, GoldOptions, GoldReport
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project


def set_gold(
    project: Project,
    by: Person | Operator,
    options: GoldOptions,
    file: Path | None = None,
    *,
    pairs: int = PAIRS,
    now: float,
) -> GoldReport:
    """Mix pairs with known grades into everybody's work; see `backend.campaign.qualification.gold.setting`."""
    return gold.set_gold(
        project.store, permissions.require_in_charge(project.store, by), options, file, pairs=pairs, now=now
    )


def end_gold(project: Project, by: Person | Operator, *, now: float) -> bool:
    """Mix no gold into anybody's work any more; whether it was."""
    return gold.end(project.store, permissions.require_in_charge(project.store, by), now=now)


def gold_results(project: Project, by: Person | Operator) -> tuple[GoldReport, list[GoldPerson]]:
    """What gold is chosen from, and how every annotator did with it."""
    permissions.require_in_charge(project.store, by)
    return results.overview(project.store)
