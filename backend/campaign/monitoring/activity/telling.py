"""The activity log: who did what and when, in words.

*Reads* events, judgements, and what they are about. *Writes* nothing.
"""

from collections.abc import Iterator

from backend.campaign.monitoring.activity import rows
from backend.campaign.monitoring.activity.model import ActivityEntry, ActivityFilter
from backend.core.days import instant
from backend.core.text_files import csv_text
from backend.store.connection import Store, reading

HEADER = ("at", "by", "kind", "words", "about", "query_id")
_AT_ONCE = 5_000


def entries(store: Store, wanted: ActivityFilter, *, first: int, most: int) -> list[ActivityEntry]:
    """At most so many entries, the newest first, from the given one on (counted from 0)."""
    with reading(store) as db:
        return rows.entries(db, wanted, first=first, most=most)


def count(store: Store, wanted: ActivityFilter) -> int:
    """How many entries there are."""
    with reading(store) as db:
        return rows.count(db, wanted)


def as_csv(store: Store, wanted: ActivityFilter) -> str:
    """All entries that are wanted, a row each, the newest first; instants in UTC."""
    return csv_text(HEADER, _lines(store, wanted), for_people=True)


def _lines(store: Store, wanted: ActivityFilter) -> Iterator[tuple[object, ...]]:
    with reading(store) as db:
        first = 0
        while found := rows.entries(db, wanted, first=first, most=_AT_ONCE):
            for one in found:
                yield (instant(one.at), one.by or "", one.kind, one.words, one.about, one.query_id)
            first += len(found)
