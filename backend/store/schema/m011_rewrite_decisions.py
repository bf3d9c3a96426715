"""Record who accepted, wrote or rejected the rewrite of a caption, and when."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# A rewrite that is not accepted waits for a decision while decided_at is NULL, and was rejected otherwise. decided_by
# is NULL for the command line. proposal is the text of the rules or model that a person replaced.
DECIDED = """
ALTER TABLE caption ADD COLUMN decided_at REAL CHECK (decided_at IS NULL OR kind = 'rewritten');
ALTER TABLE caption ADD COLUMN decided_by INTEGER REFERENCES annotator
  CHECK (decided_by IS NULL OR decided_at IS NOT NULL);
ALTER TABLE caption ADD COLUMN proposal TEXT CHECK (proposal IS NULL OR decided_at IS NOT NULL);
ALTER TABLE caption ADD COLUMN proposal_version TEXT CHECK ((proposal IS NULL) = (proposal_version IS NULL));
CREATE INDEX caption_decided ON caption (decided_by, decided_at) WHERE decided_by IS NOT NULL
"""
# Until now only commands recorded decisions; the event log has the time of the last one.
BEFORE = """
UPDATE caption SET decided_at = coalesce((SELECT max(at) FROM event WHERE kind = 'captions_rewritten'
  AND json_extract(payload, '$.rule_version') = 'by-hand'), 0) WHERE kind = 'rewritten' AND rule_version = 'by-hand'
"""


@migrations()
def m011_rewrite_decisions(db: SqliteDatabase) -> None:
    """Record who accepted, wrote or rejected the rewrite of a caption, and when."""
    run(db, DECIDED)
    run(db, BEFORE)
