"""What candidates come from, and which source found which: reads and writes."""

from collections.abc import Iterable

from backend.campaign.selection.candidates.model import CandidateSource, FoundSpan, SourceKind
from backend.core.ids import AnnotatorId
from backend.store.engine import Database, added


def add(
    db: Database, source: CandidateSource, found: Iterable[FoundSpan], *, at: float, by: AnnotatorId | None
) -> None:
    """Note a source, and the candidates that it found."""
    source_id = _add(db, source, at=at, by=by)
    db.conn.executemany(
        "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        ((one.query_id, one.moment_id, source_id, one.rank, one.score, one.start_s, one.end_s) for one in found),
    )


def note_similar(db: Database, encoder: str, *, at: float, by: AnnotatorId | None) -> None:
    """Note captions as the source of the judged queries' candidates, of all that have a similarity, at their ranks."""
    judged = "WHERE q.split <> 'train' AND k.similarity IS NOT NULL"
    depth = db.conn.execute(f"SELECT max(k.rank) FROM candidate k JOIN query q USING (query_id) {judged}").fetchone()[0]
    if not depth:
        return
    source_id = _add(db, CandidateSource(SourceKind.CAPTIONS, encoder, None, depth), at=at, by=by)
    db.conn.execute(
        "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) "
        "SELECT k.query_id, k.moment_id, ?, k.rank, k.similarity, m.start_s, m.end_s "
        f"FROM candidate k JOIN query q USING (query_id) JOIN moment m USING (moment_id) {judged}",
        [source_id],
    )


def all_sources(db: Database) -> list[CandidateSource]:
    """Every source, those that made the lists first."""
    rows = db.conn.execute("SELECT kind, name, sha256, depth, part FROM source ORDER BY part, source_id")
    return [CandidateSource(SourceKind(row[0]), *row[1:]) for row in rows]


def state(db: Database) -> tuple[int, ...]:
    """What changes with everything that a pooling rests on."""
    row = db.conn.execute(
        "SELECT (SELECT count(*) FROM candidate), (SELECT count(*) FROM pair), (SELECT count(*) FROM moment), "
        "(SELECT coalesce(max(moment_id), 0) FROM moment), (SELECT count(*) FROM query), (SELECT count(*) FROM source)"
    ).fetchone()
    return tuple(row)


def last_part(db: Database) -> int:
    """The part that sources were last added to; 0 before there are any."""
    part: int = db.conn.execute("SELECT coalesce(max(part), 0) FROM source").fetchone()[0]
    return part


def _add(db: Database, source: CandidateSource, *, at: float, by: AnnotatorId | None) -> int:
    return added(
        db,
        "INSERT INTO source (kind, name, sha256, depth, part, added_at, added_by) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "RETURNING source_id",
        [source.kind, source.name, source.sha256, source.depth, source.part, at, by],
    )
