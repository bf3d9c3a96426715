"""Add notes that people write with a grade or with an answer in an exam or calibration round, and leads' replies.

In a calibration round everybody grades the same few pairs to discuss them.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

NOTES = """
-- What somebody wrote with a grade. The newest of their notes on a pair counts; an empty one takes it back.
CREATE TABLE note (
  judgement_id  INTEGER PRIMARY KEY REFERENCES judgement,
  text          TEXT NOT NULL
) STRICT;

-- The same with an answer in an exam or a trial round.
CREATE TABLE answer_note (
  attempt_id    INTEGER NOT NULL,
  item_id       INTEGER NOT NULL,
  revision      INTEGER NOT NULL,
  text          TEXT NOT NULL,
  PRIMARY KEY (attempt_id, item_id, revision),
  FOREIGN KEY (attempt_id, item_id, revision) REFERENCES exam_answer (attempt_id, item_id, revision)
) STRICT, WITHOUT ROWID;

-- What a lead replied to a note; the newest reply counts. It reaches the person once the pair is settled for good.
CREATE TABLE note_reply (
  reply_id      INTEGER PRIMARY KEY,
  judgement_id  INTEGER NOT NULL REFERENCES note,
  lead_id       INTEGER NOT NULL REFERENCES annotator,
  text          TEXT NOT NULL CHECK (trim(text) <> ''),
  replied_at    REAL NOT NULL
) STRICT;
CREATE INDEX note_reply_note ON note_reply (judgement_id);

-- The person has seen a reply.
CREATE TABLE reply_read (
  reply_id      INTEGER PRIMARY KEY REFERENCES note_reply,
  read_at       REAL NOT NULL
) STRICT;

-- The note of each judgement that stands: the newest one of its person on its pair, unless it was taken back.
-- "+" makes SQLite look through the few judgements of the pair, not through all later ones of the person.
CREATE VIEW standing_note AS
  SELECT j.pair_id, j.annotator_id, n.judgement_id, n.text FROM note AS n JOIN judgement AS j USING (judgement_id)
  WHERE n.text <> '' AND NOT EXISTS (
    SELECT 1 FROM judgement AS l JOIN note USING (judgement_id)
    WHERE l.pair_id = j.pair_id AND +l.annotator_id = j.annotator_id AND l.judgement_id > j.judgement_id)
"""


@migrations()
def m022_notes(db: SqliteDatabase) -> None:
    """Add notes with grades and exam answers, leads' replies to notes on grades, and a record of read replies."""
    run(db, NOTES)
    forbid_changes(db, ("note", "answer_note", "note_reply", "reply_read"))
