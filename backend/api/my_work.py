"""The annotator's page My work."""

from backend.campaign.nouns import Person
from backend.campaign.project.folder import Project
from backend.campaign.quality import my_work as stage
from backend.campaign.quality.model import MyWork


def my_work(project: Project, person: Person, *, now: float) -> MyWork:
    """What this person did: counts, time, how their grades spread; agreement over settled pairs only."""
    return stage.report(project.store, person, now=now)
