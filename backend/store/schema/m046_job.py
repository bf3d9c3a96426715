"""Put background jobs into one table, and let read-only jobs run at the same time."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

JOB = """
-- Background jobs: those under way, and of each kind the last ones that ended, until a lead dismisses them.
-- `subject` says what of its kind a job is: the step of the page Set up, the pairs that intervals are of. Jobs of which
-- `changes_project` is 1 exclude each other. `begun_by` is NULL where a command began it. `heard_at` is when its
-- process was last heard of: one that died cannot say so. `outcome` and `asked` are JSON.
CREATE TABLE job (
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
    CHECK (state IN ('under way', 'done', 'refused', 'failed', 'interrupted')),
  what            TEXT NOT NULL DEFAULT '',
  done            INTEGER NOT NULL DEFAULT 0,
  total           INTEGER NOT NULL DEFAULT 0,
  refusal         TEXT NOT NULL DEFAULT '',
  outcome         TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(outcome)),
  asked           TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(asked))
) STRICT;

-- One job at a time changes the project, and none runs twice.
CREATE UNIQUE INDEX job_changing ON job (changes_project) WHERE state = 'under way' AND changes_project = 1;
CREATE UNIQUE INDEX job_running ON job (kind, subject) WHERE state = 'under way';

INSERT INTO job (job_key, kind, subject, changes_project, title, begun_by, began_at, heard_at, state, what, done, total,
                 refusal, outcome, asked)
SELECT work_key, CASE WHEN step = 'release' THEN 'release' ELSE 'set up' END,
       CASE WHEN step = 'release' THEN '' ELSE step END, 1, title, begun_by, began_at, heard_at, state, what, done,
       total, refusal, outcome, asked
FROM long_work;

DROP TABLE long_work
"""
SCHEMA_DIGEST = "a51b7396ec8c6c906f026e91bfa7a0c4872e6237e3dd95f4faeea10e788d8113"


@migrations()
def m046_job(db: SqliteDatabase) -> None:
    """Create the table of background jobs, and move the job of the old table into it."""
    run(db, JOB)
