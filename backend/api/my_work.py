"""The annotator's page My work."""

from backend.core.model import MyWork, Person
from backend.stages import my_work as stage
from backend.store.project import Project


def my_work(project: Project, person: Person, *, now: float) -> MyWork:
    """What this person did: counts, time, how their grades spread; agreement over settled pairs only."""
    return stage.report(project.store, person, now=now)
