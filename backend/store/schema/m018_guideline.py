"""Add versions of the guideline, who has read which version, and the practice pairs of the tutorial."""

import json

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

VERSIONS = """
-- The guideline as it stood from an instant on, whole; the newest is what `scale`, `guideline` and `campaign` say now.
-- The first stood from the beginning, and may be another one only while the project is being made.
CREATE TABLE guideline_version (
  version       INTEGER PRIMARY KEY CHECK (version >= 1),
  since         REAL,
  lead_id       INTEGER REFERENCES annotator,
  reason        TEXT NOT NULL,
  words         TEXT NOT NULL CHECK (json_valid(words)),
  CHECK ((version = 1) = (since IS NULL)),
  CHECK (version = 1 OR trim(reason) <> '')
) STRICT;
CREATE TRIGGER guideline_version_no_update BEFORE UPDATE ON guideline_version
  WHEN old.version > 1 OR EXISTS (SELECT 1 FROM guideline_version WHERE version > 1)
    OR EXISTS (SELECT 1 FROM guideline_seen)
  BEGIN SELECT RAISE(ABORT, 'a version of the guideline is never changed'); END;
CREATE TRIGGER guideline_version_no_delete BEFORE DELETE ON guideline_version
  BEGIN SELECT RAISE(ABORT, 'a version of the guideline is never changed'); END;

-- Who was shown which version, to its end; whoever was shown none is new.
CREATE TABLE guideline_seen (
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  version       INTEGER NOT NULL REFERENCES guideline_version,
  seen_at       REAL NOT NULL,
  PRIMARY KEY (annotator_id, version)
) STRICT, WITHOUT ROWID;

-- Pairs on which newcomers practise: a text, a moment, and the grade that a lead gives them, with why.
CREATE TABLE practice (
  practice_id   INTEGER PRIMARY KEY,
  practice_key  TEXT NOT NULL UNIQUE,
  query         TEXT NOT NULL CHECK (trim(query) <> ''),
  moment_id     INTEGER NOT NULL REFERENCES moment,
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  explanation   TEXT NOT NULL CHECK (trim(explanation) <> ''),
  lead_id       INTEGER REFERENCES annotator,
  chosen_at     REAL NOT NULL,
  withdrawn_at  REAL
) STRICT;
CREATE UNIQUE INDEX practice_standing ON practice (moment_id, query) WHERE withdrawn_at IS NULL;

-- What somebody answered in practice: never a judgement, never an answer of an exam.
CREATE TABLE practice_answer (
  practice_id   INTEGER NOT NULL REFERENCES practice,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  answered_at   REAL NOT NULL,
  event_key     TEXT NOT NULL UNIQUE
) STRICT;
CREATE INDEX practice_answer_of ON practice_answer (annotator_id, practice_id)
"""
# Whether newcomers are shown the tutorial before their first clip.
TUTORIAL = "ALTER TABLE campaign ADD COLUMN tutorial INTEGER NOT NULL DEFAULT 1 CHECK (tutorial IN (0, 1))"
GRADES_FIXED = (
    "CREATE TRIGGER scale_no_update BEFORE UPDATE OF grade ON scale WHEN EXISTS (SELECT 1 FROM judgement) OR EXISTS "
    "(SELECT 1 FROM adjudication) OR EXISTS (SELECT 1 FROM exam_answer) "
    "BEGIN SELECT RAISE(ABORT, 'the scale is fixed once somebody has graded'); END"
)
"""Fixes only the grades of the scale once somebody has graded; their words have versions from now on."""


@migrations()
def m018_guideline(db: SqliteDatabase) -> None:
    """Add versions of the guideline, who has read which version, and the practice pairs of the tutorial."""
    run(db, VERSIONS)
    forbid_changes(db, ("practice_answer",))
    db.conn.execute(TUTORIAL)
    db.conn.execute("DROP TRIGGER scale_no_update")
    db.conn.execute(GRADES_FIXED)
    db.conn.execute(
        "INSERT INTO guideline_version (version, since, lead_id, reason, words) VALUES (1, NULL, NULL, '', ?)",
        [json.dumps(_words(db))],
    )
    # People who have graded already are not newcomers.
    db.conn.execute(
        "INSERT INTO guideline_seen (annotator_id, version, seen_at) SELECT annotator_id, 1, min(at) FROM "
        "(SELECT annotator_id, graded_at AS at FROM judgement WHERE NOT imported "
        "UNION ALL SELECT annotator_id, started_at FROM exam_attempt) GROUP BY annotator_id"
    )


def _words(db: SqliteDatabase) -> dict[str, object]:
    """Return the current scale and guideline as a dict, as the column `words` of a guideline version stores it."""
    tolerance, rounding, example_query = db.conn.execute(
        "SELECT tolerance, rounding, example_query FROM campaign"
    ).fetchone()
    names = ("grade", "label", "meaning", "detail", "example")
    grades = db.conn.execute(f"SELECT {', '.join(names)} FROM scale ORDER BY grade").fetchall()
    texts = db.conn.execute("SELECT kind, title, text FROM guideline ORDER BY position").fetchall()
    return {
        "scale": {"meanings": [dict(zip(names, row, strict=True)) for row in grades]},
        **{"tolerance": tolerance, "rounding": rounding, "example_query": example_query},
        "questions": [{"title": title, "text": text} for kind, title, text in texts if kind == "question"],
        "reminders": [text for kind, _, text in texts if kind == "reminder"],
    }
