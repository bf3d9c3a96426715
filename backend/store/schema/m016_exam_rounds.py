"""Add exams on pairs that have no relevance yet, and calibration rounds.

The answer key of such an exam comes after people have answered. In a calibration round everybody grades the same few
pairs to discuss them; it never has an answer key.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, remake, run

REMADE = {
    # `key_from`: the relevance of settled pairs (or a file about them), the median of everybody who finished, a lead's
    # own grades. The key is there from `closed_at` on; `used_at`: when answers became judgements. A trial has no key.
    "exam": """
CREATE TABLE {} (
  exam_id       INTEGER PRIMARY KEY,
  set_at        REAL NOT NULL,
  set_by        INTEGER REFERENCES annotator,
  source        TEXT NOT NULL,
  seed          INTEGER,
  most_missed   REAL NOT NULL CHECK (most_missed BETWEEN 0 AND 100),
  ended_at      REAL,
  purpose       TEXT NOT NULL DEFAULT 'exam' CHECK (purpose IN ('exam', 'trial')),
  key_from      TEXT NOT NULL DEFAULT 'settled' CHECK (key_from IN ('settled', 'median', 'own', 'none')),
  closed_at     REAL,
  used_at       REAL,
  CHECK ((purpose = 'trial') = (key_from = 'none')),
  CHECK (purpose = 'exam' OR (closed_at IS NULL AND used_at IS NULL)),
  CHECK (used_at IS NULL OR key_from IN ('median', 'own'))
) STRICT
""",
    # `right_grade` is the key: NULL until it is there, and afterwards where nobody could grade the item.
    "exam_item": """
CREATE TABLE {} (
  item_id       INTEGER PRIMARY KEY,
  exam_id       INTEGER NOT NULL REFERENCES exam,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  right_grade   INTEGER CHECK (right_grade BETWEEN 0 AND 4),
  explanation   TEXT NOT NULL DEFAULT '',
  UNIQUE (exam_id, pair_id)
) STRICT
""",
    # `number` counts the attempts of one person, of exams and of trials by themselves. A lead's attempt is the key.
    "exam_attempt": """
CREATE TABLE {} (
  attempt_id    INTEGER PRIMARY KEY,
  exam_id       INTEGER NOT NULL REFERENCES exam,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  number        INTEGER NOT NULL CHECK (number >= 1),
  attempt_key   TEXT NOT NULL UNIQUE,
  started_at    REAL NOT NULL,
  handed_in_at  REAL,
  read_at       REAL,
  UNIQUE (annotator_id, exam_id, number),
  CHECK (read_at IS NULL OR handed_in_at IS NOT NULL)
) STRICT
""",
}

WITH_THEM = """
-- At most one exam is held at a time, and at most one trial.
CREATE UNIQUE INDEX exam_held ON exam (purpose) WHERE ended_at IS NULL;
CREATE INDEX exam_item_pair ON exam_item (pair_id);

-- Pairs that are handed out to nobody just now, because they are asked in an exam or a trial.
CREATE VIEW set_aside AS
  SELECT i.pair_id FROM exam_item AS i JOIN exam AS e USING (exam_id) WHERE e.ended_at IS NULL;

-- Who has answered which pair outside work, and is never handed it: they may have been told the key.
CREATE VIEW known_pair AS
  SELECT i.pair_id, t.annotator_id FROM exam_item AS i JOIN exam_attempt AS t USING (exam_id)
  WHERE EXISTS (SELECT 1 FROM exam_answer AS n WHERE n.attempt_id = t.attempt_id AND n.item_id = i.item_id);

UPDATE exam SET closed_at = set_at;
"""


@migrations(transactional=False)
def m016_exam_rounds(db: SqliteDatabase) -> None:
    """Allow exams whose answer key comes after people have answered, and calibration rounds, which never have one.

    In a calibration round everybody grades the same few pairs to discuss them.
    """
    if "purpose" in {column.name for column in db.table("exam").columns}:
        return  # it ran before, but was cut off before it was recorded
    remake(db, REMADE, lambda: run(db, WITH_THEM))
