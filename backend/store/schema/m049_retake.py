"""Let a person who retakes the exam get other pairs than in their earlier attempts."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

RETAKE = """
-- Whether only retakes ask the item: it was settled, and drawn in the place of one that somebody had seen.
ALTER TABLE exam_item ADD COLUMN alternate INTEGER NOT NULL DEFAULT 0 CHECK (alternate IN (0, 1));

-- The items of an attempt that has its own; any other attempt has the items of its exam that are no alternates.
CREATE TABLE exam_attempt_item (
  attempt_id    INTEGER NOT NULL REFERENCES exam_attempt,
  item_id       INTEGER NOT NULL REFERENCES exam_item,
  PRIMARY KEY (attempt_id, item_id)
) STRICT, WITHOUT ROWID
"""
SCHEMA_DIGEST = "706d6b92fafed8032664be7825b5e4f1384c316b766184b096a8e132eab52c44"


@migrations()
def m049_retake(db: SqliteDatabase) -> None:
    """Let each attempt at an exam have its own pairs."""
    run(db, RETAKE)
    forbid_changes(db, ("exam_attempt_item",))
