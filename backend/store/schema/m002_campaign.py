"""Add refusals to grade, grading times, batches that still need annotators, and data of earlier campaigns.

An earlier campaign consists of judgements that were made elsewhere and imported.
"""

from backend.core.errors import ProjectError
from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# The tables that m002 recreates, because SQLite cannot loosen a constraint in place. A pair of an earlier campaign may
# be known by its number alone. Only such a campaign may have a second grade of one person for one pair (`repeat`).
REBUILT = {
    "pair": """
CREATE TABLE {} (
  pair_id     INTEGER PRIMARY KEY,
  pair_key    TEXT NOT NULL UNIQUE,
  batch_id    INTEGER REFERENCES batch,
  query_id    INTEGER REFERENCES query,
  moment_id   INTEGER REFERENCES moment,
  rank        INTEGER,
  similarity  REAL,
  encoder     TEXT,
  UNIQUE (query_id, moment_id),
  CHECK ((batch_id IS NULL) + (query_id IS NULL) + (moment_id IS NULL) + (rank IS NULL) + (similarity IS NULL)
         + (encoder IS NULL) IN (0, 6))
) STRICT
""",
    "seat": """
CREATE TABLE {} (
  pair_id       INTEGER NOT NULL REFERENCES pair,
  seat_no       INTEGER NOT NULL CHECK (seat_no BETWEEN 1 AND 4),
  annotator_id  INTEGER REFERENCES annotator,
  lease_until   REAL,
  claim_no      INTEGER,
  repeat        INTEGER NOT NULL DEFAULT 0 CHECK (repeat IN (0, 1)),
  PRIMARY KEY (pair_id, seat_no),
  UNIQUE (pair_id, seat_no, annotator_id),
  CHECK (annotator_id IS NOT NULL OR lease_until IS NULL),
  CHECK (repeat = 0 OR (annotator_id IS NOT NULL AND lease_until IS NULL))
) STRICT
""",
}

CAMPAIGN = """
CREATE INDEX pair_batch ON pair (batch_id);
CREATE INDEX pair_moment ON pair (moment_id);
CREATE UNIQUE INDEX seat_person ON seat (pair_id, annotator_id) WHERE repeat = 0;
CREATE INDEX seat_claims ON seat (annotator_id, claim_no, repeat);
CREATE INDEX seat_held ON seat (annotator_id, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX seat_lease ON seat (lease_until) WHERE lease_until IS NOT NULL;
DROP INDEX judgement_annotator;
CREATE INDEX judgement_day ON judgement (annotator_id, graded_at, revision);
CREATE INDEX judgement_last ON judgement (annotator_id, judgement_id);
-- The reference to a seat in the order of its columns: without it SQLite looks through all grades of the person.
CREATE INDEX judgement_seat ON judgement (pair_id, seat_no, annotator_id);
ALTER TABLE judgement ADD COLUMN elapsed_ms INTEGER CHECK (elapsed_ms >= 0);
ALTER TABLE judgement ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));

-- Somebody's wish not to judge a pair. Never a grade; the seat goes back. `lifted_at`: offered to them again.
CREATE TABLE skip (
  skip_id       INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  kind          TEXT NOT NULL CHECK (kind IN ('skip', 'cannot_judge', 'broken_clip')),
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  skipped_at    REAL NOT NULL,
  event_key     TEXT NOT NULL UNIQUE,
  lifted_at     REAL
) STRICT;
CREATE UNIQUE INDEX skip_standing ON skip (pair_id, annotator_id) WHERE lifted_at IS NULL;

-- Derived: batches with a seat that is not judged yet. `nearest` is the lowest such seat of the pair that is
-- nearest to completion; it does not depend on who holds what, so leases may run out without anybody noticing.
CREATE TABLE agenda (
  batch_id      INTEGER PRIMARY KEY REFERENCES batch,
  nearest       INTEGER NOT NULL CHECK (nearest BETWEEN 1 AND 4),
  position      INTEGER NOT NULL
) STRICT;
CREATE INDEX agenda_order ON agenda (nearest DESC, position, batch_id);
"""


@migrations(transactional=False)
def m002_campaign(db: SqliteDatabase) -> None:
    """Add refusals to grade, grading times, batches that still need annotators, and data of earlier campaigns.

    An earlier campaign consists of judgements that were made elsewhere and imported.
    """
    # Recreating a table needs foreign keys switched off, which cannot be done inside a transaction. So this function
    # opens its own, and must check whether it ran already: it may have been cut off before it was recorded.
    if "repeat" in {column.name for column in db.table("seat").columns}:
        return
    db.conn.execute("PRAGMA foreign_keys = 0")
    try:
        with db.atomic():
            for table, create in REBUILT.items():
                columns = ", ".join(column.name for column in db.table(table).columns)
                db.conn.execute(create.format(f"{table}_new"))
                db.conn.execute(f"INSERT INTO {table}_new ({columns}) SELECT {columns} FROM {table}")
                db.conn.execute(f"DROP TABLE {table}")
                db.conn.execute(f"ALTER TABLE {table}_new RENAME TO {table}")
            run(db, CAMPAIGN)
            if broken := db.conn.execute("PRAGMA foreign_key_check").fetchall():
                raise ProjectError(f"{len(broken)} rows point to rows that do not exist: restore an intact backup")
    finally:
        db.conn.execute("PRAGMA foreign_keys = 1")
