"""Let leads cancel background jobs, archive people, and remove stored releases."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

REMOVAL = """
-- As before, with `cancelled_by`: a lead who asked the job to stop. It stops at its next step, and is then `cancelled`.
CREATE TABLE job_new (
  job_id          INTEGER PRIMARY KEY,
  job_key         TEXT NOT NULL UNIQUE,
  kind            TEXT NOT NULL,
  subject         TEXT NOT NULL,
  changes_project INTEGER NOT NULL CHECK (changes_project IN (0, 1)),
  title           TEXT NOT NULL,
  begun_by        INTEGER REFERENCES annotator,
  began_at        REAL NOT NULL,
  heard_at        REAL NOT NULL,
  state           TEXT NOT NULL DEFAULT 'under way'
    CHECK (state IN ('under way', 'done', 'refused', 'failed', 'interrupted', 'cancelled')),
  what            TEXT NOT NULL DEFAULT '',
  done            INTEGER NOT NULL DEFAULT 0,
  total           INTEGER NOT NULL DEFAULT 0,
  refusal         TEXT NOT NULL DEFAULT '',
  outcome         TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(outcome)),
  asked           TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(asked)),
  cancelled_by    INTEGER REFERENCES annotator
) STRICT;
INSERT INTO job_new (job_id, job_key, kind, subject, changes_project, title, begun_by, began_at, heard_at, state, what,
                     done, total, refusal, outcome, asked)
SELECT job_id, job_key, kind, subject, changes_project, title, begun_by, began_at, heard_at, state, what, done, total,
       refusal, outcome, asked
FROM job;
DROP TABLE job;
ALTER TABLE job_new RENAME TO job;
CREATE UNIQUE INDEX job_changing ON job (changes_project) WHERE state = 'under way' AND changes_project = 1;
CREATE UNIQUE INDEX job_running ON job (kind, subject) WHERE state = 'under way';

-- Somebody who is archived is suspended, and in no list of people; what they did stays. NULL for everybody else.
ALTER TABLE annotator ADD COLUMN archived_at REAL;

-- A release that a lead removed: its files are gone, its row and its name stay on record.
CREATE TABLE release_removal (
  release_id    INTEGER PRIMARY KEY REFERENCES "release",
  removed_at    REAL NOT NULL,
  removed_by    INTEGER REFERENCES annotator,
  reason        TEXT NOT NULL CHECK (trim(reason) <> '')
) STRICT
"""
SCHEMA_DIGEST = "aedbb771b5a869a584186d6375aacbdd5105bb15b0efce522d040b8fae7b687f"


@migrations()
def m048_removal(db: SqliteDatabase) -> None:
    """Let leads cancel background jobs, archive people, and remove stored releases."""
    run(db, REMOVAL)
    forbid_changes(db, ("release_removal",))
