"""Search the activity log: who did what and when, in words.

*Reads* events, judgements, and what they are about. *Writes* nothing.
"""

from collections.abc import Iterator

from backend.campaign.monitoring.activity import rows
from backend.campaign.monitoring.activity.model import ActivityEntry, ActivityFilter
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.days import instant
from backend.core.text_files import csv_text
from backend.store.connection import Store, reading

HEADER = ("at", "by", "kind", "words", "about", "query_id")
_AT_ONCE = 5_000


@in_charge
def find_activity(
    project: Project, by: Lead | Operator, wanted: ActivityFilter, *, first: int, most: int
) -> list[ActivityEntry]:
    """Return at most so many entries of the log, the newest first, from the given one on (counted from 0)."""
    with reading(project.store) as db:
        return rows.entries(db, wanted, first=first, most=most)


@in_charge
def count_activity(project: Project, by: Lead | Operator, wanted: ActivityFilter) -> int:
    """Count the entries of the log that are wanted."""
    with reading(project.store) as db:
        return rows.count(db, wanted)


@in_charge
def activity_csv(project: Project, by: Lead | Operator, wanted: ActivityFilter) -> str:
    """Return all entries that are wanted as CSV, the newest first; instants in UTC."""
    return csv_text(HEADER, _lines(project.store, wanted), for_people=True)


@in_charge
def activity_people(project: Project, by: Lead | Operator) -> list[str]:
    """Return the names of all people who may be in the log, leads first."""
    return rows.people(project.store.db)


def _lines(store: Store, wanted: ActivityFilter) -> Iterator[tuple[object, ...]]:
    with reading(store) as db:
        first = 0
        while found := rows.entries(db, wanted, first=first, most=_AT_ONCE):
            for one in found:
                yield (instant(one.at), one.by or "", one.kind, one.words, one.about, one.query_id)
            first += len(found)
