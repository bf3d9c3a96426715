"""Record what is wrong with a video, and who found that a clip cannot be shown."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

CHECKS = """
-- What looking at a video told beside its facts, the last time that somebody looked. `trouble` is what is wrong:
-- `missing`, `unreadable` and `changed` (another content than the one taken in) keep its clips from being shown,
-- `damaged` is a word of warning. `decoded`: every picture was looked at.
CREATE TABLE video_check (
  video_id      INTEGER PRIMARY KEY REFERENCES video,
  codec         TEXT NOT NULL DEFAULT '',
  frames        INTEGER NOT NULL DEFAULT 0 CHECK (frames >= 0),
  size_bytes    INTEGER NOT NULL DEFAULT 0 CHECK (size_bytes >= 0),
  decoded       INTEGER NOT NULL DEFAULT 0 CHECK (decoded IN (0, 1)),
  trouble       TEXT CHECK (trouble IN ('missing', 'unreadable', 'changed', 'damaged')),
  message       TEXT NOT NULL DEFAULT '',
  CHECK ((trouble IS NULL) = (message = ''))
) STRICT;

-- A person's report stands until a lead says otherwise; what the file itself showed goes once the file is well.
ALTER TABLE clip_fault ADD COLUMN found_by TEXT NOT NULL DEFAULT 'person' CHECK (found_by IN ('person', 'file'))
"""


@migrations()
def m035_video_check(db: SqliteDatabase) -> None:
    """Record what is wrong with a video, and who found that a clip cannot be shown."""
    run(db, CHECKS)
