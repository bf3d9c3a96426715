"""Store what server processes share: sign-in attempts, open grading pages, drafts, and the running background job.

A draft is what a person had typed when their session ended.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

SERVING = """
-- Attempts to sign in that still count, each once by name and once by client address. `who` is the SHA-256 of either:
-- people type passwords where names belong. Gone after five minutes, at the next attempt of anybody.
CREATE TABLE sign_in_attempt (
  attempt_id    INTEGER PRIMARY KEY,
  kind          TEXT NOT NULL CHECK (kind IN ('name', 'address')),
  who           TEXT NOT NULL,
  at            REAL NOT NULL
) STRICT;

CREATE INDEX sign_in_attempt_who ON sign_in_attempt (who, kind, at);
CREATE INDEX sign_in_attempt_at ON sign_in_attempt (at);

-- The window in which somebody grades: the one that took the desk last. `window_key` is a random name which a page
-- gives itself when it is loaded.
CREATE TABLE desk_window (
  annotator_id  INTEGER PRIMARY KEY REFERENCES annotator,
  window_key    TEXT NOT NULL CHECK (window_key <> ''),
  taken_at      REAL NOT NULL
) STRICT;

-- What somebody had typed on a page when their session ended, as JSON: theirs alone, for an hour, and gone once it is
-- given back.
CREATE TABLE draft (
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  place         TEXT NOT NULL,
  typed         TEXT NOT NULL CHECK (json_valid(typed)),
  kept_at       REAL NOT NULL,
  PRIMARY KEY (annotator_id, place)
) STRICT, WITHOUT ROWID;

-- The long work under way, or the last one until its outcome is put away: one row at most, so one act at a time.
-- `heard_at` is when its process was last heard of: one that died cannot say so. `outcome` and `asked` are JSON.
CREATE TABLE long_work (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  work_key      TEXT NOT NULL,
  step          TEXT NOT NULL,
  title         TEXT NOT NULL,
  begun_by      INTEGER NOT NULL REFERENCES annotator,
  began_at      REAL NOT NULL,
  heard_at      REAL NOT NULL,
  state         TEXT NOT NULL DEFAULT 'under way' CHECK (state IN ('under way', 'done', 'refused', 'failed')),
  what          TEXT NOT NULL DEFAULT '',
  done          INTEGER NOT NULL DEFAULT 0,
  total         INTEGER NOT NULL DEFAULT 0,
  refusal       TEXT NOT NULL DEFAULT '',
  outcome       TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(outcome)),
  asked         TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(asked))
) STRICT
"""


@migrations()
def m037_serving(db: SqliteDatabase) -> None:
    """Store what server processes share: sign-in attempts, open grading pages, drafts, and the background job."""
    run(db, SERVING)
