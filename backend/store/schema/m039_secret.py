"""Add a campaign secret and a key for each exam attempt, so that nobody can predict which pair comes next.

The secret is random bytes that decide the order of each annotator's work. The key is random too, and decides the order
of questions in an exam attempt. Before, the order of questions followed from the attempt's public name.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

SECRET = """
-- 32 random bytes in hex: whatever annotators see named or ordered by a hash is hashed with them. One row, made by
-- `migrate` or when a project is first opened. No export and no copy of the database has it: whoever opens a copy
-- gets another one.
CREATE TABLE campaign_secret (
  one           INTEGER PRIMARY KEY CHECK (one = 1),
  secret        TEXT NOT NULL CHECK (length(secret) = 64)
) STRICT;

-- Random, and never sent to a browser: it decides the order of the items. Empty for attempts from before, whose order
-- comes from `attempt_key`, so that nothing moves while somebody answers.
ALTER TABLE exam_attempt ADD COLUMN order_key TEXT NOT NULL DEFAULT ''
"""


@migrations()
def m039_secret(db: SqliteDatabase) -> None:
    """Add the campaign's secret, and the random key that decides the order of questions in an exam attempt."""
    run(db, SECRET)
