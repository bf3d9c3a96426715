"""Record when the clip of a pair came on the screen of the annotator who is to grade it."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# Holding a seat is not enough: a browser may only be loading its clip ahead.
SHOWN = "ALTER TABLE seat ADD COLUMN shown_at REAL CHECK (shown_at IS NULL OR annotator_id IS NOT NULL)"


@migrations()
def m008_shown(db: SqliteDatabase) -> None:
    """Record when the clip of a pair came on the screen of the annotator who is to grade it."""
    run(db, SHOWN)
