"""The queries that people search with."""

from backend.campaign.project.folder import Project
from backend.campaign.queries import drawing as queries
from backend.campaign.queries.drawing import QueryReport


def draw_queries(project: Project, *, val: int, test: int, seed: int, now: float) -> QueryReport:
    """Draw validation and test queries; the rest trains."""
    return queries.draw(project, val=val, test=test, seed=seed, now=now)
