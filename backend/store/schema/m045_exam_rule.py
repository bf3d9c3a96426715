"""Record which rule decides whether an exam attempt passes, so that a later rule does not change earlier results."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

RULE = """
-- The rule by which attempts pass. Exams of before it was noted down were all set with the first one.
ALTER TABLE exam ADD COLUMN rule_version TEXT NOT NULL DEFAULT 'tvr-ranking-exam-1' CHECK (rule_version <> '')
"""
SCHEMA_DIGEST = "8e4a4e353cb086a2388da5c7e6e9ec1fda0e6e763f53c4df80ad4ce0cd98ae15"


@migrations()
def m045_exam_rule(db: SqliteDatabase) -> None:
    """Record which rule decides whether an attempt at an exam passes."""
    run(db, RULE)
