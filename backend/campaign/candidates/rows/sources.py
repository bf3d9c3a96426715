"""What candidates come from, and which source found which: reads and writes."""

from collections.abc import Iterable

from backend.campaign.candidates.model import CandidateSource, FoundSpan, SourceKind
from backend.ground.ids import AnnotatorId, MomentId, QueryId
from backend.store.engine import Database


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


def note_similar(db: Database, encoder: str, *, at: float) -> None:
    """Note captions as the source of all candidates of the judged queries; lists that nothing else found."""
    judged = "candidate k JOIN query q USING (query_id) WHERE q.split <> 'train'"
    depth = db.conn.execute(f"SELECT max(k.rank) FROM {judged}").fetchone()[0]
    if not depth:
        return
    source_id = _add(db, CandidateSource(SourceKind.CAPTIONS, encoder, None, depth), at=at, by=None)
    db.conn.execute(
        "INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s) "
        "SELECT k.query_id, k.moment_id, ?, k.rank, k.similarity, m.start_s, m.end_s "
        "FROM candidate k JOIN query q USING (query_id) JOIN moment m USING (moment_id) WHERE q.split <> 'train'",
        [source_id],
    )


def all_sources(db: Database) -> list[CandidateSource]:
    """Every source, those that made the lists first."""
    rows = db.conn.execute("SELECT kind, name, sha256, depth, part FROM source ORDER BY part, source_id")
    return [CandidateSource(SourceKind(row[0]), *row[1:]) for row in rows]


def of_query(db: Database, query_id: QueryId) -> dict[MomentId, list[tuple[CandidateSource, FoundSpan]]]:
    """What found each candidate of a query, the best rank first."""
    found: dict[MomentId, list[tuple[CandidateSource, FoundSpan]]] = {}
    for row in db.conn.execute(
        "SELECT s.kind, s.name, s.sha256, s.depth, s.part, f.moment_id, f.rank, f.score, f.start_s, f.end_s "
        "FROM candidate_source f JOIN source s USING (source_id) WHERE f.query_id = ? "
        "ORDER BY f.rank, s.part, s.source_id",
        [query_id],
    ):
        moment = MomentId(row[5])
        source = CandidateSource(SourceKind(row[0]), *row[1:5])
        found.setdefault(moment, []).append((source, FoundSpan(query_id, moment, *row[6:])))
    return found


def last_part(db: Database) -> int:
    """The part that sources were last added to; 0 before there are any."""
    part: int = db.conn.execute("SELECT coalesce(max(part), 0) FROM source").fetchone()[0]
    return part


def _add(db: Database, source: CandidateSource, *, at: float, by: AnnotatorId | None) -> int:
    cursor = db.conn.execute(
        "INSERT INTO source (kind, name, sha256, depth, part, added_at, added_by) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [source.kind, source.name, source.sha256, source.depth, source.part, at, by],
    )
    return int(cursor.lastrowid or 0)
