"""Places at gold pairs: each for one person alone, beside the seats, and handled like them.

To the person at it such a place is one of the second round, at a pair that waits for its last grade: it is offered,
claimed, held under a lease, shown, given back and graded by the same acts. Its grades are no judgements, and nobody
else gets to know of it. Who is offered which pair is the business of `backend.campaign.gold`.
"""

from backend.ground.ids import AnnotatorId, BatchId, PairId, PairKey
from backend.store.engine import Database

SEAT_NO = 4
"""The seat that such a place looks like; a batch with one is handed out before those with less to it."""

# Offered to this person, and a clip to show; what they skipped is not offered again.
_MINE_TO_TAKE = """
  g.annotator_id = :me AND g.claim_no IS NULL
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = g.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
"""
_OFFERED = "lease_until = NULL, claim_no = NULL, shown_at = NULL"


def renew(db: Database, me: AnnotatorId, *, now: float, until: float, slack_s: float) -> None:
    """Extend the leases of this person, and shorten anybody's that are too long, as with seats."""
    db.conn.execute(
        "UPDATE gold_seat SET lease_until = :until, shown_at = iif(lease_until < :now, NULL, shown_at) "
        "WHERE annotator_id = :me AND lease_until < :until - :slack",
        {"me": me, "now": now, "until": until, "slack": slack_s},
    )
    db.conn.execute("UPDATE gold_seat SET lease_until = :until WHERE lease_until > :until", {"until": until})


def claimable(db: Database, me: AnnotatorId, batch_id: BatchId) -> list[tuple[PairId, int]]:
    """Pairs of a batch that are offered to this person, each with the seat that it looks like."""
    # CROSS JOIN, here and below: from the few offers to their pairs, never from a batch or all pairs.
    rows = db.conn.execute(
        "SELECT g.pair_id FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
        f"WHERE p.batch_id = :batch AND {_MINE_TO_TAKE}",
        {"me": me, "batch": batch_id},
    )
    return [(PairId(row[0]), SEAT_NO) for row in rows]


def next_batch(db: Database, me: AnnotatorId) -> tuple[BatchId, int] | None:
    """The first batch, in judging order, with a pair that is offered to this person, and its place in that order."""
    row = db.conn.execute(
        "SELECT p.batch_id, q.position FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
        "CROSS JOIN query q USING (query_id) "
        f"WHERE {_MINE_TO_TAKE} ORDER BY q.position, p.batch_id LIMIT 1",
        {"me": me},
    ).fetchone()
    return (BatchId(row[0]), row[1]) if row else None


def offered(db: Database, pair_id: PairId, me: AnnotatorId) -> bool:
    """Whether this person may sit down at a pair as gold."""
    row = db.conn.execute(
        "SELECT 1 FROM gold_seat WHERE pair_id = ? AND annotator_id = ? AND claim_no IS NULL", [pair_id, me]
    ).fetchone()
    return row is not None


def claim(db: Database, me: AnnotatorId, pair_id: PairId, claim_no: int, *, until: float) -> bool:
    """Sit down at a pair that is offered; whether it was."""
    cursor = db.conn.execute(
        "UPDATE gold_seat SET lease_until = ?, claim_no = ?, shown_at = NULL "
        "WHERE pair_id = ? AND annotator_id = ? AND claim_no IS NULL",
        [until, claim_no, pair_id, me],
    )
    return cursor.rowcount == 1


def claims(db: Database, me: AnnotatorId) -> int:
    """The number of the last claim of this person, of seats and gold together; 0 without any."""
    row = db.conn.execute(
        "SELECT max(coalesce((SELECT max(claim_no) FROM seat WHERE annotator_id = :me), 0), "
        "coalesce((SELECT max(claim_no) FROM gold_seat WHERE annotator_id = :me), 0))",
        {"me": me},
    ).fetchone()
    return int(row[0])


def mark_shown(db: Database, me: AnnotatorId, key: PairKey, *, now: float) -> None:
    """The clip of a pair is on its holder's screen; the first time counts."""
    db.conn.execute(
        "UPDATE gold_seat SET shown_at = :now WHERE pair_id = (SELECT pair_id FROM pair WHERE pair_key = :key) "
        "AND annotator_id = :me AND lease_until >= :now AND shown_at IS NULL",
        {"me": me, "key": key, "now": now},
    )


def release(db: Database, me: AnnotatorId, pair_id: PairId | None = None) -> list[PairId]:
    """Give back what this person holds and has not graded, or one pair of it: it is offered to them again."""
    rows = db.conn.execute(
        f"UPDATE gold_seat SET {_OFFERED} "
        "WHERE annotator_id = :me AND lease_until IS NOT NULL AND pair_id = coalesce(:pair, pair_id) RETURNING pair_id",
        {"me": me, "pair": pair_id},
    ).fetchall()
    return [PairId(row[0]) for row in rows]


def release_broken(db: Database, moment_id: int) -> None:
    """Give the places back at every pair of a moment whose clip cannot be shown."""
    db.conn.execute(
        f"UPDATE gold_seat SET {_OFFERED} WHERE lease_until IS NOT NULL "
        "AND pair_id IN (SELECT pair_id FROM pair WHERE moment_id = ?)",
        [moment_id],
    )


def taken(db: Database, pair_id: PairId, me: AnnotatorId) -> tuple[bool] | None:
    """Whether this person's place at a pair has a grade; None if they have no place there."""
    row = db.conn.execute(
        "SELECT lease_until IS NULL FROM gold_seat WHERE pair_id = ? AND annotator_id = ? AND claim_no IS NOT NULL",
        [pair_id, me],
    ).fetchone()
    return (bool(row[0]),) if row else None


def mark_judged(db: Database, pair_id: PairId, me: AnnotatorId) -> None:
    """The place has a grade."""
    db.conn.execute("UPDATE gold_seat SET lease_until = NULL WHERE pair_id = ? AND annotator_id = ?", [pair_id, me])


def graded(db: Database, me: AnnotatorId) -> int:
    """How many gold pairs this person has graded."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM gold_seat WHERE annotator_id = ? AND claim_no IS NOT NULL AND lease_until IS NULL", [me]
    ).fetchone()[0]
    return count


def batch_progress(db: Database, me: AnnotatorId, batch_id: BatchId) -> tuple[int, int]:
    """(graded, held) gold pairs of this person in one batch."""
    graded, held = db.conn.execute(
        "SELECT coalesce(sum(g.lease_until IS NULL), 0), coalesce(sum(g.lease_until IS NOT NULL), 0) "
        "FROM pair p CROSS JOIN gold_seat g USING (pair_id) "
        "WHERE p.batch_id = ? AND g.annotator_id = ? AND g.claim_no IS NOT NULL",
        [batch_id, me],
    ).fetchone()
    return graded, held


def free_lapsed(db: Database, pair_id: PairId) -> None:
    """Take a pair off the desks of people who went away without grading it."""
    db.conn.execute(f"UPDATE gold_seat SET {_OFFERED} WHERE pair_id = ? AND lease_until IS NOT NULL", [pair_id])
