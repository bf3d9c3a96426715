"""Who added a person."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations


@migrations()
def m009_added_by(db: SqliteDatabase) -> None:
    """Which lead added a person; NULL for the command line, and for everybody who was here before."""
    db.conn.execute("ALTER TABLE annotator ADD COLUMN added_by INTEGER REFERENCES annotator")
