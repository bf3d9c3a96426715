"""What people decided about imprecise captions."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# Undecided and not accepted: it waits. Decided and not accepted: it was rejected. NULL in decided_by: the command line.
# The proposal is what the rules or a model had written where a person wrote something else.
DECIDED = """
ALTER TABLE caption ADD COLUMN decided_at REAL CHECK (decided_at IS NULL OR kind = 'rewritten');
ALTER TABLE caption ADD COLUMN decided_by INTEGER REFERENCES annotator
  CHECK (decided_by IS NULL OR decided_at IS NOT NULL);
ALTER TABLE caption ADD COLUMN proposal TEXT CHECK (proposal IS NULL OR decided_at IS NOT NULL);
ALTER TABLE caption ADD COLUMN proposal_version TEXT CHECK ((proposal IS NULL) = (proposal_version IS NULL));
CREATE INDEX caption_decided ON caption (decided_by, decided_at) WHERE decided_by IS NOT NULL
"""
# Until now only commands took decisions; the log has the last time.
BEFORE = """
UPDATE caption SET decided_at = coalesce((SELECT max(at) FROM event WHERE kind = 'captions_rewritten'
  AND json_extract(payload, '$.rule_version') = 'by-hand'), 0) WHERE kind = 'rewritten' AND rule_version = 'by-hand'
"""


@migrations()
def m011_rewrite_decisions(db: SqliteDatabase) -> None:
    """Who accepted, wrote or rejected an imprecise caption, and when."""
    run(db, DECIDED)
    run(db, BEFORE)
