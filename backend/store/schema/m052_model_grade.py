"""Store what language models that see pictures answered when they were asked to grade pairs."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

MODEL_GRADE = """
-- One answer of a model about one pair. It is never a judgement: no verdict, queue or truth is made from this table.
-- `query` is the query's text when the model was asked. `prompt_version` names all that the model was told and shown
-- beside query and clip. `reason` is the model's sentence, or what went wrong. `cost` is in the currency of the prices
-- that were given with the command. `tokens_in`, `tokens_out` and `cost` are NULL where nobody told them. `requests`
-- counts retries. A row is never changed; it goes with its pair.
CREATE TABLE model_grade (
  model_grade_id  INTEGER PRIMARY KEY,
  pair_id         INTEGER NOT NULL REFERENCES pair,
  query           TEXT NOT NULL CHECK (query <> ''),
  model           TEXT NOT NULL CHECK (model <> ''),
  host            TEXT NOT NULL,
  prompt_version  TEXT NOT NULL CHECK (prompt_version <> ''),
  outcome         TEXT NOT NULL CHECK (outcome IN ('graded', 'refused', 'failed')),
  grade           INTEGER CHECK (grade BETWEEN 0 AND 4),
  reason          TEXT NOT NULL,
  requests        INTEGER NOT NULL CHECK (requests >= 1),
  tokens_in       INTEGER CHECK (tokens_in >= 0),
  tokens_out      INTEGER CHECK (tokens_out >= 0),
  cost            REAL CHECK (cost >= 0),
  asked_at        REAL NOT NULL,
  CHECK ((outcome = 'graded') = (grade IS NOT NULL))
) STRICT;
CREATE INDEX model_grade_pair ON model_grade (pair_id);
-- Two commands that ask at the same time store one grade of a pair.
CREATE UNIQUE INDEX model_grade_once ON model_grade (model, prompt_version, pair_id, query) WHERE outcome = 'graded';
CREATE TRIGGER model_grade_no_update BEFORE UPDATE ON model_grade
BEGIN SELECT RAISE(ABORT, 'a row of model_grade is never changed'); END
"""
SCHEMA_DIGEST = "450ee371edcf43fbe9877b9e782ab3681babad9372c7fc1af418d1590d182f2c"


@migrations()
def m052_model_grade(db: SqliteDatabase) -> None:
    """Create the table of what models answered about pairs."""
    run(db, MODEL_GRADE)
