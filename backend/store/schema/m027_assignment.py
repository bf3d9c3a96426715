"""Add assignments: which queries an annotator may grade, and how many grades they may give at most."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

ASSIGNMENT = """
-- What a lead gave an annotator: the queries for which all holds that is said here (their split; part `part` of `parts`
-- equal ones in judging order; those chosen by name), and at most so many grades. It stands while it has no end;
-- whoever has none that stands grades whatever there is.
CREATE TABLE assignment (
  assignment_id INTEGER PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  split         TEXT CHECK (split IN ('val', 'test')),
  part          INTEGER CHECK (part BETWEEN 1 AND parts),
  parts         INTEGER CHECK (parts >= 2),
  chosen        INTEGER NOT NULL CHECK (chosen IN (0, 1)),
  a_day         INTEGER CHECK (a_day >= 1),
  in_all        INTEGER CHECK (in_all >= 1),
  given_at      REAL NOT NULL,
  given_by      INTEGER NOT NULL REFERENCES annotator,
  ended_at      REAL,
  ended_by      INTEGER REFERENCES annotator,
  CHECK ((part IS NULL) = (parts IS NULL)),
  CHECK ((ended_at IS NULL) = (ended_by IS NULL)),
  CHECK (chosen OR coalesce(split, part, a_day, in_all) IS NOT NULL)
) STRICT;

-- Nobody has two assignments at a time.
CREATE UNIQUE INDEX assignment_standing ON assignment (annotator_id) WHERE ended_at IS NULL;

-- The queries that were chosen by name.
CREATE TABLE assigned_query (
  assignment_id INTEGER NOT NULL REFERENCES assignment,
  query_id      INTEGER NOT NULL REFERENCES query,
  PRIMARY KEY (assignment_id, query_id)
) STRICT, WITHOUT ROWID
"""


@migrations()
def m027_assignment(db: SqliteDatabase) -> None:
    """Add assignments: which queries an annotator may grade, and how many grades they may give at most."""
    run(db, ASSIGNMENT)
    forbid_changes(db, ("assigned_query",))
