"""Index events by kind and actor, for the activity log."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

BY_KIND = "CREATE INDEX event_kind ON event (kind, actor, at)"


@migrations()
def m030_activity(db: SqliteDatabase) -> None:
    """Index events by kind and actor, for the activity log."""
    run(db, BY_KIND)
