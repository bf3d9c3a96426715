"""The activity log finds events by what they are, and by whom."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

BY_KIND = "CREATE INDEX event_kind ON event (kind, actor, at)"


@migrations()
def m030_activity(db: SqliteDatabase) -> None:
    """The activity log finds events by what they are, and by whom."""
    run(db, BY_KIND)
