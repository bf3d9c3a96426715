"""What leads explore: the funnel of a campaign, and the page Explore."""

from backend.campaign.explore import rows, rules
from backend.campaign.explore.model import Funnel
from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.store.connection import reading


def funnel(project: Project, by: Person | Operator) -> Funnel:
    """How far the pairs came that were handed out, and where they ended."""
    gate.in_charge(project.store, by)
    with reading(project.store) as db:
        return rules.funnel(rows.fates(db))
