"""Entries of the activity log, and settings, as values."""

from dataclasses import dataclass

from backend.core.events import EventGroup
from backend.core.ids import QueryId

USUAL = (
    *(EventGroup.DECISIONS, EventGroup.PEOPLE, EventGroup.TRAINING),
    *(EventGroup.MATERIAL, EventGroup.RESULTS),
)
"""What is listed unless somebody asks for more: not what happens with every clip."""


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """Which entries are wanted.

    `group` None stands for those of `USUAL`; `by` is a person's name, empty for anybody; `since` and `until` are
    seconds since 1970, the latter not included; `text` is looked for in what an entry holds, in any case.
    """

    group: EventGroup | None = None
    by: str = ""
    since: float | None = None
    until: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """One thing that happened. `by` is None where no person did it: a command, or a rule of the program."""

    entry: int
    at: float
    by: str | None
    kind: str
    words: str
    """What was done, in words: `opened batch 2: 20 pairs`."""
    about: str
    """What it was done to, in words; empty where the words say it."""
    query_id: QueryId | None


@dataclass(frozen=True, slots=True)
class CampaignSetting:
    """One setting of the campaign in words.

    `since` is None where it stands as the project was made with; `by` is the name of who set it, None for a command
    or the file. `where` is the page on which a lead changes it, or empty where no page does; `how` says how then.
    """

    part: str
    name: str
    value: str
    changes: str
    """What it changes."""
    since: float | None
    by: str | None
    where: str
    how: str = ""
