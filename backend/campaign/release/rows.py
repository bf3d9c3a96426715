"""The releases made so far, their manifests as they were written; and what stood when their grades were given."""

from dataclasses import dataclass

from backend.campaign.candidates.rows.lists import PROBE_PAIRS
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


def grades_by_guideline(db: Database) -> dict[int, int]:
    """How many grades that count were given here under each version of the guideline; the newest one always."""
    rows = db.conn.execute(
        "SELECT (SELECT max(version) FROM guideline_version WHERE since IS NULL OR since <= s.graded_at), count(*) "
        f"FROM standing s WHERE NOT imported AND pair_id NOT IN {PROBE_PAIRS} GROUP BY 1"
    )
    found = dict(rows.fetchall())
    newest: int = db.conn.execute("SELECT max(version) FROM guideline_version").fetchone()[0]
    return {**dict(sorted(found.items())), newest: found.get(newest, 0)}
