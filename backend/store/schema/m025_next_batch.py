"""Add the rule that recommends when to open the next batch of a query, and the batches that leads declined.

A batch is a group of a query's candidates that is handed out for grading together.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

NEXT_BATCH = """
-- The rule about next batches as it stood from an instant on; the newest counts. The first, which stood from the
-- beginning, has no row: it follows from the scale and the batch size.
CREATE TABLE batch_rule (
  version       INTEGER PRIMARY KEY CHECK (version >= 2),
  since         REAL NOT NULL,
  lead_id       INTEGER REFERENCES annotator,
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  last          INTEGER NOT NULL CHECK (last BETWEEN 1 AND 40),
  mean          REAL CHECK (mean > 0),
  finds         INTEGER CHECK (finds BETWEEN 1 AND last),
  grade         INTEGER NOT NULL CHECK (grade >= 1),
  CHECK (mean IS NOT NULL OR finds IS NOT NULL)
) STRICT;

-- A lead's decision not to open a batch. It stands while it has no end.
CREATE TABLE declined_batch (
  declined_id   INTEGER PRIMARY KEY,
  query_id      INTEGER NOT NULL REFERENCES query,
  number        INTEGER NOT NULL CHECK (number >= 2),
  declined_at   REAL NOT NULL,
  declined_by   INTEGER REFERENCES annotator,
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  ended_at      REAL,
  ended_by      INTEGER REFERENCES annotator,
  CHECK (ended_at IS NOT NULL OR ended_by IS NULL)
) STRICT;

-- No batch is declined twice at a time.
CREATE UNIQUE INDEX declined_standing ON declined_batch (query_id, number) WHERE ended_at IS NULL
"""


@migrations()
def m025_next_batch(db: SqliteDatabase) -> None:
    """Add the rule that recommends when to open the next batch of a query, and the batches that leads declined.

    A batch is a group of a query's candidates that is handed out for grading together.
    """
    run(db, NEXT_BATCH)
    forbid_changes(db, ("batch_rule",))
