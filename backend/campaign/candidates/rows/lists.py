"""Candidate lists, and the batches of pairs that are handed out from them: reads and writes."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.campaign.candidates.rows import agenda
from backend.campaign.project.model import Campaign
from backend.ground.ids import AnnotatorId, BatchId, MomentId, QueryId
from backend.store.engine import Database

FIRST_ROUND_SEATS = (1, 2)
PROBE_PAIRS = "(SELECT t.pair_id FROM batch AS o JOIN pair AS t USING (batch_id) WHERE o.number IS NULL)"
"""The pairs that are judged for a probe alone, for use in a condition."""


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One entry of a stored candidate list; the list is the record and is never recomputed silently."""

    query_id: QueryId
    rank: int
    moment_id: MomentId
    similarity: float


def add_candidates(db: Database, rows: Iterable[CandidateRow], encoder: str) -> None:
    """Store candidate lists under the identity of the encoder that made them."""
    db.conn.executemany(
        "INSERT INTO candidate (query_id, rank, moment_id, similarity, encoder) VALUES (?, ?, ?, ?, ?)",
        ((row.query_id, row.rank, row.moment_id, row.similarity, encoder) for row in rows),
    )


def training_lists(db: Database, query_ids: Sequence[QueryId]) -> dict[QueryId, list[CandidateRow]]:
    """The stored lists of training queries, which only a project has that came from a release; by rank."""
    found: dict[QueryId, list[CandidateRow]] = {}
    for query_id in query_ids:
        rows = db.conn.execute(
            "SELECT rank, moment_id, similarity FROM candidate WHERE query_id = ? ORDER BY rank", [query_id]
        )
        found[query_id] = [CandidateRow(query_id, *row) for row in rows]
    return found


def longest_training_list(db: Database) -> int:
    """The most candidates of a stored list of a training query; 0 where these lists are computed when needed."""
    found: int = db.conn.execute(
        "SELECT coalesce(max(rank), 0) FROM candidate WHERE query_id IN "
        "(SELECT query_id FROM query WHERE split = 'train')"
    ).fetchone()[0]
    return found


def encoder_of_candidates(db: Database) -> str | None:
    """Identity of the encoder behind the stored candidate lists; None before there are any."""
    row = db.conn.execute("SELECT encoder FROM candidate LIMIT 1").fetchone()
    return row[0] if row else None


def open_batch(
    db: Database, campaign: Campaign, query_id: QueryId, number: int, *, at: float, by: AnnotatorId | None
) -> int:
    """Hand out candidates of ranks (number-1)*size+1 .. number*size: their pairs, with the first free seats each.

    Those that the query's probe handed out already come over from there, with their seats and grades.

    Returns:
        The number of pairs in the batch (0 if the candidate list ends before).
    """
    size = campaign.batch_size
    chosen = [
        CandidateRow(query_id, *row)
        for row in db.conn.execute(
            "SELECT rank, moment_id, similarity FROM candidate "
            "WHERE query_id = ? AND rank > ? AND rank <= ? ORDER BY rank",
            [query_id, (number - 1) * size, number * size],
        )
    ]
    probe = db.conn.execute("SELECT batch_id FROM batch WHERE query_id = ? AND number IS NULL", [query_id]).fetchone()
    there: set[int] = set()
    if probe:
        rows = db.conn.execute("SELECT moment_id FROM pair WHERE batch_id = ?", [probe[0]])
        there = {row[0] for row in rows} & {row.moment_id for row in chosen}
    new = [row for row in chosen if row.moment_id not in there]
    batch_id = _hand_out(db, campaign, query_id, number, new, at=at, by=by)
    if probe:
        db.conn.executemany(
            "UPDATE pair SET batch_id = ? WHERE query_id = ? AND moment_id = ?",
            ((batch_id, query_id, moment_id) for moment_id in there),
        )
        agenda.refresh(db, BatchId(probe[0]))
    agenda.refresh(db, batch_id)
    return len(chosen)


def open_probe(db: Database, campaign: Campaign, query_id: QueryId, rows: Iterable[CandidateRow], *, at: float) -> int:
    """Hand out the probe of a query: those of its pairs that no batch holds; how many that are."""
    held = {row[0] for row in db.conn.execute("SELECT moment_id FROM pair WHERE query_id = ?", [query_id])}
    new = [row for row in rows if row.moment_id not in held]
    agenda.refresh(db, _hand_out(db, campaign, query_id, None, new, at=at, by=None))
    return len(new)


def _hand_out(
    db: Database,
    campaign: Campaign,
    query_id: QueryId,
    number: int | None,
    rows: Sequence[CandidateRow],
    *,
    at: float,
    by: AnnotatorId | None,
) -> BatchId:
    """A new batch with these pairs, the first seats at each of them free."""
    cursor = db.conn.execute(
        "INSERT INTO batch (query_id, number, opened_at, opened_by) VALUES (?, ?, ?, ?)",
        [query_id, number, at, by],
    )
    batch_id = BatchId(int(cursor.lastrowid or 0))
    made_by = encoder_of_candidates(db)
    db.conn.executemany(
        "INSERT INTO pair (pair_key, batch_id, query_id, moment_id, rank, similarity, encoder) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            # The key is opaque on purpose.
            (secrets.token_urlsafe(12), batch_id, query_id, row.moment_id, row.rank, row.similarity, made_by)
            for row in rows
        ),
    )
    db.conn.executemany(
        "INSERT INTO seat (pair_id, seat_no) SELECT pair_id, ? FROM pair WHERE batch_id = ?",
        ((seat_no, batch_id) for seat_no in range(1, campaign.seats + 1)),
    )
    return batch_id


def any_batch(db: Database) -> bool:
    """Whether anything has been handed out at all."""
    return db.conn.execute("SELECT 1 FROM batch LIMIT 1").fetchone() is not None


def batch_counts(db: Database) -> dict[str, int]:
    """How many queries have a first, a second ... batch open; always names 1 and 2."""
    rows = db.conn.execute("SELECT number, count(*) FROM batch WHERE number IS NOT NULL GROUP BY number")
    found = dict(rows.fetchall())
    return {str(n): found.get(n, 0) for n in range(1, max([2, *found]) + 1)}


def probe_counts(db: Database) -> dict[str, int]:
    """How many queries are probed, and how many pairs are judged for that alone."""
    row = db.conn.execute(
        f"SELECT (SELECT count(*) FROM batch WHERE number IS NULL), (SELECT count(*) FROM {PROBE_PAIRS})"
    ).fetchone()
    return {"queries": row[0], "pairs": row[1]}
