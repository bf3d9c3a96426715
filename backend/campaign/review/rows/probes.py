"""The pairs that tell how deep judging has to go. Reads only."""

from dataclasses import dataclass

from backend.store.engine import Database


@dataclass(frozen=True, slots=True)
class ProbePair:
    """A pair of a probed query; `rank` is that among all moments, `relevance` None while it has none."""

    pair_id: int
    query_id: int
    query: str
    video: str
    start_s: float
    end_s: float
    rank: int
    similarity: float
    relevance: int | None


def probe_pairs(db: Database, *, top: int) -> list[ProbePair]:
    """What the probes wanted judged: their own pairs, and those of the top that batches of their queries hold."""
    rows = db.conn.execute(
        "SELECT p.pair_id, p.query_id, q.text, v.name, m.start_s, m.end_s, p.rank, p.similarity, c.relevance "
        "FROM batch o JOIN query q USING (query_id) JOIN pair p ON p.query_id = q.query_id "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) LEFT JOIN consensus c USING (pair_id) "
        # What a later pooling found says nothing about how deep judging by similarity has to go.
        "WHERE o.number IS NULL AND p.similarity IS NOT NULL AND (p.batch_id = o.batch_id OR p.rank <= ?) "
        "ORDER BY q.position, p.rank",
        [top],
    )
    return [ProbePair(*row) for row in rows]
