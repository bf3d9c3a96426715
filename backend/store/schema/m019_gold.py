"""Add gold questions: pairs whose grade is known, hidden among an annotator's work."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

GOLD = """
-- Pairs among which each person's gold is chosen, or (`chosen` 0) once was. `right_grade` is what a lead's file says;
-- without one it is the relevance of the pair as it stands.
CREATE TABLE gold_pair (
  pair_id       INTEGER PRIMARY KEY REFERENCES pair,
  right_grade   INTEGER CHECK (right_grade BETWEEN 0 AND 4),
  chosen        INTEGER NOT NULL DEFAULT 1 CHECK (chosen IN (0, 1))
) STRICT;

-- A place at a gold pair for one person alone, beside the seats and never one of them: offered without a claim, held
-- with a lease, answered with a claim and no lease.
CREATE TABLE gold_seat (
  pair_id       INTEGER NOT NULL REFERENCES pair,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  lease_until   REAL,
  claim_no      INTEGER,
  shown_at      REAL,
  PRIMARY KEY (pair_id, annotator_id),
  CHECK (claim_no IS NOT NULL OR (lease_until IS NULL AND shown_at IS NULL))
) STRICT;
CREATE INDEX gold_seat_person ON gold_seat (annotator_id, claim_no);
CREATE INDEX gold_seat_lease ON gold_seat (lease_until) WHERE lease_until IS NOT NULL;

-- A grade of a gold pair: never a judgement. `after_judgement` is the newest judgement of the person when it came, 0
-- without any, so that both together have an order.
CREATE TABLE gold_answer (
  gold_answer_id  INTEGER PRIMARY KEY,
  pair_id         INTEGER NOT NULL,
  annotator_id    INTEGER NOT NULL,
  revision        INTEGER NOT NULL CHECK (revision >= 1),
  grade           INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  graded_at       REAL NOT NULL,
  active_ms       INTEGER NOT NULL DEFAULT 0 CHECK (active_ms >= 0),
  elapsed_ms      INTEGER CHECK (elapsed_ms >= 0),
  contexts        INTEGER NOT NULL DEFAULT 0 CHECK (contexts >= 0),
  event_key       TEXT NOT NULL UNIQUE,
  note            TEXT,
  after_judgement INTEGER NOT NULL CHECK (after_judgement >= 0),
  UNIQUE (annotator_id, pair_id, revision),
  FOREIGN KEY (pair_id, annotator_id) REFERENCES gold_seat (pair_id, annotator_id)
) STRICT;
CREATE INDEX gold_answer_last ON gold_answer (annotator_id, gold_answer_id);

-- At which claim of a person the next gold pair is due.
CREATE TABLE gold_rhythm (
  annotator_id  INTEGER PRIMARY KEY REFERENCES annotator,
  next_at       INTEGER NOT NULL
) STRICT;

-- What followed from a person's gold answers; the accuracy is counted afresh after each. `graded` is how many pairs
-- they had graded in all.
CREATE TABLE gold_finding (
  gold_finding_id INTEGER PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  kind          TEXT NOT NULL CHECK (kind IN ('warned', 'paused')),
  answers       INTEGER NOT NULL CHECK (answers >= 1),
  within        INTEGER NOT NULL CHECK (within BETWEEN 0 AND answers),
  last_answer   INTEGER NOT NULL REFERENCES gold_answer,
  graded        INTEGER NOT NULL CHECK (graded >= 0),
  found_at      REAL NOT NULL
) STRICT;
CREATE INDEX gold_finding_person ON gold_finding (annotator_id, gold_finding_id)
"""

SETTINGS = (
    # Nobody outside can foresee who meets which pair when.
    "gold_key TEXT NOT NULL DEFAULT ''",
    # Accuracy is that of the last `gold_window` answers, once there are `gold_fewest`; the levels are percent.
    "gold_window INTEGER NOT NULL DEFAULT 20 CHECK (gold_window >= gold_fewest)",
    "gold_warn REAL NOT NULL DEFAULT 70 CHECK (gold_warn BETWEEN gold_pause AND 100)",
)
FEWEST = "gold_fewest INTEGER NOT NULL DEFAULT 10 CHECK (gold_fewest >= 1)"
PAUSE = "gold_pause REAL NOT NULL DEFAULT 50 CHECK (gold_pause BETWEEN 0 AND 100)"


@migrations()
def m019_gold(db: SqliteDatabase) -> None:
    """Add gold questions: pairs whose grade is known, hidden among an annotator's work."""
    run(db, GOLD)
    for column in (FEWEST, PAUSE, *SETTINGS):
        db.conn.execute(f"ALTER TABLE campaign ADD COLUMN {column}")
    forbid_changes(db, ("gold_answer", "gold_finding"))
