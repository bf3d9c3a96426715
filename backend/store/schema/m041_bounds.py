"""Working time is bounded by when work was handed out; wrong passwords slow attempts down and lock nobody out."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

CLAIMED = """
-- When the holder of a seat took it: nobody is credited more time for a grade than has passed since.
ALTER TABLE seat ADD COLUMN claimed_at REAL;
ALTER TABLE gold_seat ADD COLUMN claimed_at REAL;
CREATE INDEX gold_answer_day ON gold_answer (annotator_id, graded_at);
CREATE INDEX description_act_person ON description_act (person_id, at)
"""


@migrations()
def m041_bounds(db: SqliteDatabase) -> None:
    """Know when seats were claimed."""
    run(db, CLAIMED)
