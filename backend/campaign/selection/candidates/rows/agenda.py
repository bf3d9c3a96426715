"""The agenda: which batches still have places, those nearest to completion first.

Derived from seats, as the consensus is from grades: one row a batch, so that finding the next batch takes a step or
two however many pairs there are. `refresh` makes the row of one batch anew after every act that may change it.
"""

from backend.core.ids import BatchId, MomentId, PairId
from backend.store.engine import Database

# Lowest seat without a judgement of each pair that still wants one. Who holds it does not matter: a lease may end.
_WANTING = """
  SELECT p.batch_id, p.query_id, min(s.seat_no) AS seat_no
  FROM pair p JOIN seat s USING (pair_id)
  WHERE (s.annotator_id IS NULL OR s.lease_until IS NOT NULL) AND s.closed = 0
    AND p.batch_id IS NOT NULL AND {where}
    AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id)
    AND NOT EXISTS (SELECT 1 FROM set_aside o WHERE o.pair_id = p.pair_id)
  GROUP BY p.pair_id
"""
ROWS = (
    f"SELECT w.batch_id, max(w.seat_no) AS nearest, max(q.position) AS position FROM ({_WANTING}) AS w "
    "JOIN query q USING (query_id) GROUP BY w.batch_id"
)
"""What the table should hold; `where` narrows it down."""


def refresh(db: Database, batch_id: BatchId) -> None:
    """Bring the row of one batch up to date."""
    _refresh(db, "SELECT :number", batch_id)


def refresh_pair(db: Database, pair_id: PairId) -> None:
    """Bring the row of a pair's batch up to date; a pair known by its number alone has none."""
    _refresh(db, "SELECT batch_id FROM pair WHERE pair_id = :number", pair_id)


def _refresh(db: Database, which: str, number: int) -> None:
    """Write the row of a batch if it is not as it should be, which it mostly is."""
    batch_id, nearest, position, there = db.conn.execute(
        f"SELECT b.batch_id, w.nearest, w.position, a.nearest FROM (SELECT ({which}) AS batch_id) AS b "
        f"LEFT JOIN ({ROWS.format(where=f'p.batch_id = ({which})')}) AS w ON w.batch_id = b.batch_id "
        "LEFT JOIN agenda a ON a.batch_id = b.batch_id",
        {"number": number},
    ).fetchone()
    if nearest is None and there is not None:
        db.conn.execute("DELETE FROM agenda WHERE batch_id = ?", [batch_id])
    elif nearest != there:
        db.conn.execute(
            "INSERT INTO agenda (batch_id, nearest, position) VALUES (?, ?, ?) ON CONFLICT (batch_id) "
            "DO UPDATE SET nearest = excluded.nearest",
            [batch_id, nearest, position],
        )


def refresh_moment(db: Database, moment_id: MomentId) -> None:
    """Bring the rows of all batches up to date that hand out this moment."""
    for row in db.conn.execute("SELECT DISTINCT batch_id FROM pair WHERE moment_id = ?", [moment_id]).fetchall():
        refresh(db, BatchId(row[0]))


def rebuild(db: Database) -> None:
    """Make the whole table anew."""
    db.conn.execute("DELETE FROM agenda")
    db.conn.execute(f"INSERT INTO agenda (batch_id, nearest, position) {ROWS.format(where='TRUE')}")
