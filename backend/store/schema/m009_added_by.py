"""Record which lead added a person."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations


@migrations()
def m009_added_by(db: SqliteDatabase) -> None:
    """Record which lead added a person; NULL for the command line, and for people added before this migration."""
    db.conn.execute("ALTER TABLE annotator ADD COLUMN added_by INTEGER REFERENCES annotator")
