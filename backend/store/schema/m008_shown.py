"""Record when a held clip came on its holder's screen."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# Holding a seat is not enough: a browser may only be loading its clip ahead.
SHOWN = "ALTER TABLE seat ADD COLUMN shown_at REAL CHECK (shown_at IS NULL OR annotator_id IS NOT NULL)"


@migrations()
def m008_shown(db: SqliteDatabase) -> None:
    """Record when a held clip came on its holder's screen."""
    run(db, SHOWN)
