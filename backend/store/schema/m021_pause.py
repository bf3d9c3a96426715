"""Add pauses: a paused person may sign in and read their work, but is handed no pairs."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

PAUSE = """
-- A pause stands while it has no end. `paused_by` is a lead; NULL where the program paused somebody by a rule.
CREATE TABLE pause (
  pause_id      INTEGER PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  paused_at     REAL NOT NULL,
  paused_by     INTEGER REFERENCES annotator,
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  ended_at      REAL,
  ended_by      INTEGER REFERENCES annotator,
  CHECK ((ended_at IS NULL) = (ended_by IS NULL))
) STRICT;

-- Nobody is paused twice at a time.
CREATE UNIQUE INDEX pause_standing ON pause (annotator_id) WHERE ended_at IS NULL
"""


@migrations()
def m021_pause(db: SqliteDatabase) -> None:
    """Record who is paused, since when, by whom and why."""
    run(db, PAUSE)
