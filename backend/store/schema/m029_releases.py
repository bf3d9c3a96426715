"""Releases have names and notes, and are kept as files."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

# `file` is relative to the project's folder; without it only the manifest is kept, as of all releases before.
NAMED = """
ALTER TABLE "release" ADD COLUMN name TEXT;
ALTER TABLE "release" ADD COLUMN notes TEXT NOT NULL DEFAULT '';
ALTER TABLE "release" ADD COLUMN file TEXT;
ALTER TABLE "release" ADD COLUMN file_sha256 TEXT;
UPDATE "release" SET name = 'release-' || release_id;
CREATE UNIQUE INDEX release_name ON "release" (name)
"""


@migrations()
def m029_releases(db: SqliteDatabase) -> None:
    """Releases have names and notes, and are kept as files."""
    run(db, NAMED)
    forbid_changes(db, ("release",))
