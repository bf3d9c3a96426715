"""Candidate lists, and the batches of pairs that are handed out from them: reads and writes."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.candidates.rows import agenda
from backend.campaign.project.model import Campaign
from backend.ground.ids import AnnotatorId, BatchId, MomentId, QueryId
from backend.store.engine import Database

FIRST_ROUND_SEATS = (1, 2)


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


def encoder_of_candidates(db: Database) -> str | None:
    """Identity of the encoder behind the stored candidate lists; None before there are any."""
    row = db.conn.execute("SELECT encoder FROM candidate LIMIT 1").fetchone()
    return row[0] if row else None


def open_batch(
    db: Database, campaign: Campaign, query_id: QueryId, number: int, *, at: float, by: AnnotatorId | None
) -> int:
    """Hand out candidates of ranks (number-1)*size+1 .. number*size: their pairs, with the first free seats each.

    Returns:
        The number of new pairs (0 if the candidate list ends before).
    """
    cursor = db.conn.execute(
        "INSERT INTO batch (query_id, number, opened_at, opened_by) VALUES (?, ?, ?, ?)",
        [query_id, number, at, by],
    )
    batch_id = BatchId(int(cursor.lastrowid or 0))
    size = campaign.batch_size
    chosen = db.conn.execute(
        "SELECT moment_id, rank, similarity, encoder FROM candidate "
        "WHERE query_id = ? AND rank > ? AND rank <= ? ORDER BY rank",
        [query_id, (number - 1) * size, number * size],
    ).fetchall()
    db.conn.executemany(
        "INSERT INTO pair (pair_key, batch_id, query_id, moment_id, rank, similarity, encoder) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                secrets.token_urlsafe(12),
                batch_id,
                query_id,
                row[0],
                row[1],
                row[2],
                row[3],
            )  # opaque on purpose
            for row in chosen
        ),
    )
    db.conn.executemany(
        "INSERT INTO seat (pair_id, seat_no) SELECT pair_id, ? FROM pair WHERE batch_id = ?",
        ((seat_no, batch_id) for seat_no in range(1, campaign.seats + 1)),
    )
    agenda.refresh(db, batch_id)
    return len(chosen)


def any_batch(db: Database) -> bool:
    """Whether anything has been handed out at all."""
    return db.conn.execute("SELECT 1 FROM batch LIMIT 1").fetchone() is not None


def batch_counts(db: Database) -> dict[str, int]:
    """How many queries have a first, a second ... batch open; always names 1 and 2."""
    found = dict(db.conn.execute("SELECT number, count(*) FROM batch GROUP BY number").fetchall())
    return {str(n): found.get(n, 0) for n in range(1, max([2, *found]) + 1)}
