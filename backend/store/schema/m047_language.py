"""Store a user's language with their account, so that it follows them to every browser."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

LANGUAGE = """
-- The tag of the language that the user chose; NULL until they choose one.
ALTER TABLE annotator ADD COLUMN language TEXT CHECK (language <> '')
"""
SCHEMA_DIGEST = "555b1e93f25f8a885ce16425e428fd5aa254177dddf3095fc7cf265c29ef8306"


@migrations()
def m047_language(db: SqliteDatabase) -> None:
    """Store each user's language with their account."""
    run(db, LANGUAGE)
