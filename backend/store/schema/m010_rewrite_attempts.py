"""Record requests to language models, their answers, and how many attempts the rewrite of a caption took."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

ATTEMPTS = "ALTER TABLE caption ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0)"
"""Adds the number of attempts that a rewrite took; 0 for published captions."""
ONE_BEFORE = "UPDATE caption SET attempts = 1 WHERE kind = 'rewritten'"
"""Counts one attempt for the existing rewrites: all of them came from rules, which make one attempt."""
ANSWERS = """
-- One request to an endpoint: `at` is when the command began that made it. Tokens are NULL where it does not tell.
CREATE TABLE rewrite_request (
  request_id  INTEGER PRIMARY KEY,
  at          REAL NOT NULL,
  rewriter    TEXT NOT NULL CHECK (rewriter <> ''),
  host        TEXT NOT NULL,
  tokens_in   INTEGER CHECK (tokens_in >= 0),
  tokens_out  INTEGER CHECK (tokens_out >= 0)
) STRICT;

-- What a model answered to the text of a caption, kept so that it is asked once; empty where nothing was of use.
CREATE TABLE rewrite_answer (
  rewriter    TEXT NOT NULL CHECK (rewriter <> ''),
  text        TEXT NOT NULL CHECK (text <> ''),
  answer      TEXT NOT NULL,
  request_id  INTEGER NOT NULL REFERENCES rewrite_request,
  PRIMARY KEY (rewriter, text)
) STRICT
"""


@migrations()
def m010_rewrite_attempts(db: SqliteDatabase) -> None:
    """Record requests to language models, their answers, and how many attempts the rewrite of a caption took."""
    db.conn.execute(ATTEMPTS)
    db.conn.execute(ONE_BEFORE)
    run(db, ANSWERS)
    forbid_changes(db, ("rewrite_request", "rewrite_answer"))
