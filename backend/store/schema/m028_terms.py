"""Record the licence of releases and how to cite them."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

TERMS = """
-- What a lead, or the command line (nobody), said about licence and citation; the newest row counts.
CREATE TABLE terms (
  terms_id      INTEGER PRIMARY KEY,
  licence       TEXT NOT NULL,
  citation      TEXT NOT NULL,
  reason        TEXT NOT NULL,
  lead_id       INTEGER REFERENCES annotator,
  set_at        REAL NOT NULL
) STRICT
"""


@migrations()
def m028_terms(db: SqliteDatabase) -> None:
    """Record the licence of releases and how to cite them."""
    run(db, TERMS)
    forbid_changes(db, ("terms",))
