"""What a step of the page Set up is."""

from collections.abc import Callable
from typing import Any, NamedTuple

from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.model import LongWork


class StepStanding(NamedTuple):
    """How far a step is, as the project tells it, whoever did it and from where."""

    done: bool
    told: str
    """Half a sentence behind the title: `9 videos`."""
    waits: str = ""
    """What has to be done first, in a sentence; empty where nothing stands in the way."""


class SetUpStep(NamedTuple):
    """One step. `standing` and `show` get the project, the lead and the counts of `status_counts`.

    `then` draws what a lead may do with the outcome of the step's long work.
    """

    key: str
    title: str
    standing: Callable[[Project, Person, dict[str, Any]], StepStanding]
    show: Callable[[Project, Person, dict[str, Any]], None]
    optional: bool = False
    then: Callable[[LongWork], None] | None = None
