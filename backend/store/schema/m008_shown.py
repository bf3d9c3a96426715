"""Which clips were seen, not only held."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# When the clip came on its holder's screen. A seat that is merely held may be a clip that a browser loads ahead.
SHOWN = "ALTER TABLE seat ADD COLUMN shown_at REAL CHECK (shown_at IS NULL OR annotator_id IS NOT NULL)"


@migrations()
def m008_shown(db: SqliteDatabase) -> None:
    """Which clips were seen, not only held."""
    run(db, SHOWN)
