"""Number the answers to the tutorial's practice pairs, so that their order does not depend on SQLite's rowid."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

NUMBERED = """
CREATE TABLE practice_answer_new (
  answer_id     INTEGER PRIMARY KEY,
  practice_id   INTEGER NOT NULL REFERENCES practice,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  answered_at   REAL NOT NULL,
  event_key     TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO practice_answer_new (practice_id, annotator_id, grade, answered_at, event_key)
  SELECT practice_id, annotator_id, grade, answered_at, event_key FROM practice_answer ORDER BY rowid;
DROP TABLE practice_answer;
ALTER TABLE practice_answer_new RENAME TO practice_answer;
CREATE INDEX practice_answer_of ON practice_answer (annotator_id, practice_id)
"""
SCHEMA_DIGEST = "ad9ac4a414f35a679a9be6be8a5f861fd89a221a77783a1991cf550007c44c86"


@migrations()
def m038_practice_order(db: SqliteDatabase) -> None:
    """Give the answers to the tutorial's practice pairs a number, which keeps their order."""
    run(db, NUMBERED)
    forbid_changes(db, ("practice_answer",))
