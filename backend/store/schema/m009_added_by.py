"""Record which lead added a person."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations


@migrations()
def m009_added_by(db: SqliteDatabase) -> None:
    """Record which lead added a person: NULL if the command line did, or if it was before this migration."""
    db.conn.execute("ALTER TABLE annotator ADD COLUMN added_by INTEGER REFERENCES annotator")
