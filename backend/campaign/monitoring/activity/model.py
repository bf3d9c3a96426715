"""Data types of the activity log: entries, filters and settings."""

from dataclasses import dataclass

from backend.core.events import EventGroup
from backend.core.ids import QueryId

USUAL = (
    *(EventGroup.DECISIONS, EventGroup.PEOPLE, EventGroup.TRAINING),
    *(EventGroup.MATERIAL, EventGroup.RESULTS),
)
"""The groups that are listed by default. Grades are not among them, because there are too many."""


@dataclass(frozen=True, slots=True)
class ActivityFilter:
    """A filter on entries of the activity log.

    `group` is a group of entries, such as judgements; None selects every group that is listed by default. `by` is a
    person's name, empty for anybody. `since` and `until` are seconds since 1970; `until` itself is excluded. `text` has
    to occur in the entry; case is ignored.
    """

    group: EventGroup | None = None
    by: str = ""
    since: float | None = None
    until: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """One entry of the activity log: who did what, when, and to which pair, query or person.

    Attributes:
        entry: the number of the entry.
        at: the time, in seconds since 1970.
        by: the person's name; None for a command or a rule of the program.
        kind: the kind of event.
        words: what was done, in words: `opened batch 2: 20 pairs`.
        about: what it was done to, in words; empty where `words` say it.
        query_id: the query concerned; None if there is none.
    """

    entry: int
    at: float
    by: str | None
    kind: str
    words: str
    about: str
    query_id: QueryId | None


@dataclass(frozen=True, slots=True)
class CampaignSetting:
    """One setting of the campaign in words.

    Attributes:
        part: the topic under which it is listed.
        changes: what the setting affects.
        since: the time of the last change, in seconds since 1970; None if the initial value was never changed.
        by: the name of the person who set it; None if a command or the settings file set it.
        where: the page on which a lead changes it; empty if no page does.
        how: when it can be changed, or how to change it without a page.
    """

    part: str
    name: str
    value: str
    changes: str
    since: float | None
    by: str | None
    where: str
    how: str = ""
