"""Count how often annotators viewed the video around a moment, and add examples for the guideline."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

DESK = """
ALTER TABLE judgement ADD COLUMN contexts INTEGER NOT NULL DEFAULT 0 CHECK (contexts >= 0);

-- Settled pairs that a lead chose to show what a grade means; one stands for each grade.
CREATE TABLE example (
  example_id    INTEGER PRIMARY KEY,
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  pair_id       INTEGER NOT NULL REFERENCES pair,
  note          TEXT NOT NULL CHECK (trim(note) <> ''),
  lead_id       INTEGER NOT NULL REFERENCES annotator,
  chosen_at     REAL NOT NULL,
  withdrawn_at  REAL
) STRICT;
CREATE UNIQUE INDEX example_standing ON example (grade) WHERE withdrawn_at IS NULL;
"""


@migrations()
def m003_desk(db: SqliteDatabase) -> None:
    """Count how often annotators viewed the video around a moment, and add examples for the guideline."""
    run(db, DESK)
