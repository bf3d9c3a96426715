"""The releases made so far: their manifests, as they were written."""

from dataclasses import dataclass

from backend.ground.ids import AnnotatorId
from backend.store.engine import Database


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One frozen export. `sha256` is that of its manifest file, which holds those of all other files."""

    release_id: int
    created_at: float
    sha256: str


def add(db: Database, manifest: str, sha256: str, *, at: float, by: AnnotatorId | None) -> None:
    """Record a release."""
    db.conn.execute(
        'INSERT INTO "release" (created_at, created_by, manifest, sha256) VALUES (?, ?, ?, ?)',
        [at, by, manifest, sha256],
    )


def all_releases(db: Database) -> list[ReleaseRow]:
    """All releases, the newest first."""
    rows = db.conn.execute('SELECT release_id, created_at, sha256 FROM "release" ORDER BY release_id DESC')
    return [ReleaseRow(*row) for row in rows]
