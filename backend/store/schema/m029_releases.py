"""Store a name, notes and a file for each release. A release is a frozen copy of the project's results."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

# `file` is relative to the project's folder. Without it only the manifest is kept, as for all earlier releases.
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
    """Store a name, notes and a file for each release; name the existing releases `release-1` and so on."""
    run(db, NAMED)
    forbid_changes(db, ("release",))
