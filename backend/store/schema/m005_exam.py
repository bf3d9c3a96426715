"""Add the qualification exam, which annotators must pass before they work."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

EXAM = """
-- An exam: settled pairs and the grades that are right. At most one is held at a time.
CREATE TABLE exam (
  exam_id       INTEGER PRIMARY KEY,
  set_at        REAL NOT NULL,
  set_by        INTEGER REFERENCES annotator,
  source        TEXT NOT NULL,
  seed          INTEGER,
  most_missed   REAL NOT NULL CHECK (most_missed BETWEEN 0 AND 100),
  ended_at      REAL
) STRICT;
CREATE UNIQUE INDEX exam_held ON exam ((ended_at IS NULL)) WHERE ended_at IS NULL;

-- `right_grade` is the key: the relevance of the pair when the exam was set, or what the lead's file says.
CREATE TABLE exam_item (
  item_id       INTEGER PRIMARY KEY,
  exam_id       INTEGER NOT NULL REFERENCES exam,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  right_grade   INTEGER NOT NULL CHECK (right_grade BETWEEN 0 AND 4),
  explanation   TEXT NOT NULL DEFAULT '',
  UNIQUE (exam_id, pair_id)
) STRICT;

-- `number` counts the attempts of one person; `attempt_key` names its items in a browser and seeds their order.
CREATE TABLE exam_attempt (
  attempt_id    INTEGER PRIMARY KEY,
  exam_id       INTEGER NOT NULL REFERENCES exam,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  number        INTEGER NOT NULL CHECK (number >= 1),
  attempt_key   TEXT NOT NULL UNIQUE,
  started_at    REAL NOT NULL,
  handed_in_at  REAL,
  read_at       REAL,
  UNIQUE (annotator_id, number),
  CHECK (read_at IS NULL OR handed_in_at IS NOT NULL)
) STRICT;

-- Never a judgement. Of an item the newest answer counts that is not `again`: those were given after the attempt was
-- handed in, to a missed item that had been explained.
CREATE TABLE exam_answer (
  attempt_id    INTEGER NOT NULL REFERENCES exam_attempt,
  item_id       INTEGER NOT NULL REFERENCES exam_item,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  again         INTEGER NOT NULL CHECK (again IN (0, 1)),
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  answered_at   REAL NOT NULL,
  active_ms     INTEGER NOT NULL DEFAULT 0 CHECK (active_ms >= 0),
  event_key     TEXT NOT NULL UNIQUE,
  PRIMARY KEY (attempt_id, item_id, revision)
) STRICT, WITHOUT ROWID;

-- What leads decide about a person: another attempt, or none needed. The newest one counts; `after_attempt` is the
-- number of the person's attempts when it was made.
CREATE TABLE exam_ruling (
  ruling_id     INTEGER PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  lead_id       INTEGER REFERENCES annotator,
  kind          TEXT NOT NULL CHECK (kind IN ('retake', 'exempt')),
  reason        TEXT NOT NULL,
  after_attempt INTEGER NOT NULL CHECK (after_attempt >= 0),
  ruled_at      REAL NOT NULL,
  CHECK (kind = 'retake' OR trim(reason) <> '')
) STRICT;
CREATE INDEX exam_ruling_person ON exam_ruling (annotator_id);
"""

APPEND_ONLY = ("exam_answer", "exam_ruling")


@migrations()
def m005_exam(db: SqliteDatabase) -> None:
    """Add the qualification exam, which annotators must pass before they work."""
    run(db, EXAM)
    forbid_changes(db, APPEND_ONLY)
