"""Record where moments come from, and store the shots into which videos are divided."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

MOMENTS = """
ALTER TABLE moment ADD COLUMN origin TEXT NOT NULL DEFAULT 'imported'
  CHECK (origin IN ('imported', 'shots', 'windows', 'described', 'pooled'));

-- The shots of a video, one after another without gaps, as the named detector saw them. Derived: looking again
-- replaces all rows of a video.
CREATE TABLE shot (
  video_id      INTEGER NOT NULL REFERENCES video,
  start_s       REAL NOT NULL CHECK (start_s >= 0),
  end_s         REAL NOT NULL CHECK (end_s > start_s),
  detector      TEXT NOT NULL CHECK (detector <> ''),
  PRIMARY KEY (video_id, start_s)
) STRICT, WITHOUT ROWID
"""


@migrations()
def m031_moments(db: SqliteDatabase) -> None:
    """Record where moments come from, and store the shots into which videos are divided."""
    run(db, MOMENTS)
