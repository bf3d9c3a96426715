"""Redefine the view of annotators' current notes on judgements, so that SQLite searches judgements by pair.

Before, it searched all judgements of an annotator for each pair. This took minutes in a large campaign.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

BY_PAIR = """
DROP VIEW standing_note;

-- The newest note of each person on each pair, unless it was taken back. The plus signs keep SQLite from looking for
-- those of one pair among all judgements of a person, of which there may be tens of thousands.
CREATE VIEW standing_note AS
  SELECT j.pair_id, j.annotator_id, n.judgement_id, n.text FROM note AS n JOIN judgement AS j USING (judgement_id)
  WHERE n.text <> '' AND NOT EXISTS (
    SELECT 1 FROM judgement AS l JOIN note AS m ON m.judgement_id = l.judgement_id
    WHERE l.pair_id = j.pair_id AND +l.annotator_id = j.annotator_id AND +l.judgement_id > n.judgement_id)
"""


@migrations()
def m024_standing_note(db: SqliteDatabase) -> None:
    """Redefine the view of current notes so that SQLite searches judgements by pair, not by annotator."""
    run(db, BY_PAIR)
