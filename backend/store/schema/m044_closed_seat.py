"""Record for each seat (one annotator's place on a pair) whether it is closed, so that it is not handed out."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

CLOSED = """
-- A seat is closed while a lead's decision on its pair stands: nobody sits down at it. Whoever held it may still grade.
ALTER TABLE seat ADD COLUMN closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1));
UPDATE seat SET closed = 1 WHERE (annotator_id IS NULL OR lease_until IS NOT NULL)
  AND pair_id IN (SELECT pair_id FROM lead_act WHERE kind = 'decided' AND stands)
"""
SCHEMA_DIGEST = "a7ae3a1928bb8b0c76f9db114c315027598e345ea489bdaf5fb6540493739109"


@migrations()
def m044_closed_seat(db: SqliteDatabase) -> None:
    """Close all seats (annotators' places) without a grade on pairs that a lead has adjudicated."""
    run(db, CLOSED)
