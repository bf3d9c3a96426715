"""Places at gold pairs: each for one person alone, beside the seats, and handled like them.

To the person at it such a place is one of the second round, at a pair that waits for its last grade: it is offered,
claimed, held under a lease, shown, given back and graded by the same acts. Its grades are no judgements, and nobody
else gets to know of it. Who is offered which pair is the business of `backend.campaign.qualification.gold`.
"""

from backend.core.ids import AnnotatorId, PairId
from backend.store.engine import Database

SEAT_NO = 4
"""The seat that such a place looks like; a batch with one is handed out before those with less to it."""

# Offered to this person, and a clip to show; what they skipped is not offered again.
_MINE_TO_TAKE = """
  g.annotator_id = :me AND g.claim_no IS NULL
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = g.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
"""
_UNCLAIMED = "lease_until = NULL, claim_no = NULL, shown_at = NULL, claimed_at = NULL"

# For statements about seats, which ask for these places on the way.
# The first and the last lease are the ends of an index, whatever PostgreSQL thinks of how many there may be.
DUE = """
  (SELECT min(lease_until) FROM {table} WHERE annotator_id = :me AND lease_until IS NOT NULL) < :until - :slack
  OR (SELECT max(lease_until) FROM {table} WHERE lease_until IS NOT NULL) > :until
"""
"""Whether leases at seats, or at these places, are to be renewed or shortened: mostly none is."""
# CROSS JOIN, here and below: from the few offers to their pairs, never from a batch or all pairs.
CLAIMABLE = (
    f"SELECT g.pair_id, {SEAT_NO} AS seat_no FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
    f"WHERE p.batch_id = :batch AND {_MINE_TO_TAKE}"
)
"""(pair, the seat that it looks like) of all that is offered to a person in a batch."""
OFFERED = "EXISTS (SELECT 1 FROM gold_seat WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NULL)"
NEXT_BATCH = (
    "SELECT p.batch_id, q.position FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
    f"CROSS JOIN query q USING (query_id) WHERE {_MINE_TO_TAKE} ORDER BY q.position, p.batch_id LIMIT 1"
)
"""The first batch, in judging order, with a pair that is offered to a person, and its place in that order."""
CLAIMS = (
    "(SELECT max(coalesce((SELECT max(claim_no) FROM seat WHERE annotator_id = :me), 0), "
    "coalesce((SELECT max(claim_no) FROM gold_seat WHERE annotator_id = :me), 0)))"
)


def claim(db: Database, me: AnnotatorId, pair_id: PairId, *, now: float, until: float) -> bool:
    """Sit down at a pair that is offered; whether it was."""
    cursor = db.conn.execute(
        f"UPDATE gold_seat SET lease_until = :until, claim_no = 1 + {CLAIMS}, shown_at = NULL, claimed_at = :now "
        "WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NULL",
        {"me": me, "pair": pair_id, "now": now, "until": until},
    )
    return cursor.rowcount == 1


def claims(db: Database, me: AnnotatorId) -> int:
    """The number of the last claim of this person, of seats and gold together; 0 without any."""
    return int(db.conn.execute(f"SELECT {CLAIMS}", {"me": me}).fetchone()[0])


def release(db: Database, me: AnnotatorId, pair_id: PairId | None = None) -> list[PairId]:
    """Give back what this person holds and has not graded, or one pair of it: it is offered to them again."""
    rows = db.conn.execute(
        f"UPDATE gold_seat SET {_UNCLAIMED} "
        "WHERE annotator_id = :me AND lease_until IS NOT NULL AND pair_id = coalesce(:pair, pair_id) RETURNING pair_id",
        {"me": me, "pair": pair_id},
    ).fetchall()
    return [PairId(row[0]) for row in rows]


def release_broken(db: Database, moment_id: int) -> None:
    """Give the places back at every pair of a moment whose clip cannot be shown."""
    db.conn.execute(
        f"UPDATE gold_seat SET {_UNCLAIMED} WHERE lease_until IS NOT NULL "
        "AND pair_id IN (SELECT pair_id FROM pair WHERE moment_id = ?)",
        [moment_id],
    )


def mark_judged(db: Database, pair_id: PairId, me: AnnotatorId) -> None:
    """The place has a grade."""
    db.conn.execute("UPDATE gold_seat SET lease_until = NULL WHERE pair_id = ? AND annotator_id = ?", [pair_id, me])


def free_lapsed(db: Database, pair_id: PairId) -> None:
    """Take a pair off the desks of people who went away without grading it."""
    db.conn.execute(f"UPDATE gold_seat SET {_UNCLAIMED} WHERE pair_id = ? AND lease_until IS NOT NULL", [pair_id])
