"""Seats: places for annotators at pairs. The only table whose rows change while people work.

A seat is free (nobody), held (somebody, until its lease runs out) or judged (somebody, for good). Because the
rows of a pair *are* its overlap, no count is ever compared with a limit.
"""

import sqlite3
from dataclasses import dataclass

from sqlite_utils import Database

from backend.core.model import AnnotatorId, BatchId, PairId, PairKey, QueryId

SECOND_ROUND_SEATS = (3, 4)

# A place that anybody may take: nobody's, or somebody's whose lease has run out.
_FREE = "(s.annotator_id IS NULL OR s.lease_until < :now)"
# Pairs this person may sit down at: never twice at the same pair, nothing decided by a lead, no broken clip.
_MINE_TO_TAKE = """
  NOT EXISTS (SELECT 1 FROM seat AS m WHERE m.pair_id = p.pair_id AND m.annotator_id = :me)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
  AND NOT EXISTS (SELECT 1 FROM consensus AS c WHERE c.pair_id = p.pair_id AND c.verdict <> 'escalated')
"""


@dataclass(frozen=True, slots=True)
class Held:
    """A pair in somebody's hands, not graded yet."""

    pair_id: PairId
    pair_key: PairKey
    batch_id: BatchId
    query_id: QueryId
    query: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class Seat:
    """One person's place at one pair; `judged` seats never change hands."""

    pair_id: PairId
    seat_no: int
    judged: bool


def renew(db: Database, me: AnnotatorId, *, until: float) -> None:
    """Extend the lease of every seat this person still holds, lapsed or not."""
    db.conn.execute("UPDATE seat SET lease_until = ? WHERE annotator_id = ? AND lease_until IS NOT NULL", [until, me])


def held(db: Database, me: AnnotatorId) -> list[Held]:
    """What this person holds and has not graded, in the order of claiming; broken clips left out."""
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.batch_id, p.query_id, q.text, m.end_s - m.start_s "
        "FROM seat s JOIN pair p USING (pair_id) JOIN query q USING (query_id) JOIN moment m USING (moment_id) "
        "WHERE s.annotator_id = ? AND s.lease_until IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id) ORDER BY s.claim_no",
        [me],
    )
    return [
        Held(PairId(r[0]), PairKey(r[1]), BatchId(r[2]), QueryId(r[3]), r[4], r[5])
        for r in rows  # one person holds a handful
    ]


def claimable(db: Database, me: AnnotatorId, batch_id: BatchId, *, now: float) -> list[tuple[PairId, int]]:
    """Pairs of a batch at which this person may sit down now, each with its lowest free seat."""
    rows = db.conn.execute(
        f"SELECT p.pair_id, min(s.seat_no) FROM pair p JOIN seat s USING (pair_id) "
        f"WHERE p.batch_id = :batch AND {_FREE} AND {_MINE_TO_TAKE} GROUP BY p.pair_id",
        {"batch": batch_id, "me": me, "now": now},
    )
    return [(PairId(row[0]), row[1]) for row in rows]


def next_batch(db: Database, me: AnnotatorId, *, now: float) -> BatchId | None:
    """The batch to work on next: the one with a pair nearest to completion, then judging order.

    Seats fill from the lowest number, so the lowest free seat of a pair tells how far it is: 3 or 4 means that
    a disagreement waits to be settled, 2 that somebody has been there already.
    """
    row = db.conn.execute(
        f"SELECT batch_id FROM (SELECT p.batch_id, p.query_id, min(s.seat_no) AS seat_no "
        f"  FROM seat s JOIN pair p USING (pair_id) WHERE {_FREE} AND {_MINE_TO_TAKE} GROUP BY p.pair_id) "
        f"JOIN query q USING (query_id) GROUP BY batch_id "
        f"ORDER BY max(seat_no) DESC, q.position, batch_id LIMIT 1",
        {"me": me, "now": now},
    ).fetchone()
    return BatchId(row[0]) if row else None


def last_batch(db: Database, me: AnnotatorId) -> BatchId | None:
    """The batch in which this person took a seat last."""
    row = db.conn.execute(
        "SELECT p.batch_id FROM seat s JOIN pair p USING (pair_id) WHERE s.annotator_id = ? "
        "ORDER BY s.claim_no DESC LIMIT 1",
        [me],
    ).fetchone()
    return BatchId(row[0]) if row else None


def claim(db: Database, me: AnnotatorId, pair_id: PairId, *, now: float, until: float) -> bool:
    """Sit down at a pair, in one statement: the lowest free seat, if there still is one.

    Returns:
        Whether a seat was had.
    """
    try:
        cursor = db.conn.execute(
            "UPDATE seat SET annotator_id = :me, lease_until = :until, "
            "claim_no = (SELECT coalesce(max(claim_no), 0) + 1 FROM seat WHERE annotator_id = :me) "
            "WHERE pair_id = :pair AND seat_no = "
            f"(SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {_FREE} ORDER BY s.seat_no LIMIT 1)",
            {"me": me, "pair": pair_id, "now": now, "until": until},
        )
    except sqlite3.IntegrityError:
        return False  # this person sits at the pair already
    return cursor.rowcount == 1


def release(db: Database, me: AnnotatorId) -> list[PairId]:
    """Give back every seat this person holds and has not graded."""
    rows = db.conn.execute(
        "UPDATE seat SET annotator_id = NULL, lease_until = NULL, claim_no = NULL "
        "WHERE annotator_id = ? AND lease_until IS NOT NULL RETURNING pair_id",
        [me],
    ).fetchall()
    return [PairId(row[0]) for row in rows]


def release_broken(db: Database, moment_id: int) -> None:
    """Free the ungraded seats at every pair of a moment whose clip cannot be shown."""
    db.conn.execute(
        "UPDATE seat SET annotator_id = NULL, lease_until = NULL, claim_no = NULL WHERE lease_until IS NOT NULL "
        "AND pair_id IN (SELECT pair_id FROM pair WHERE moment_id = ?)",
        [moment_id],
    )


def seat_of(db: Database, pair_id: PairId, me: AnnotatorId) -> Seat | None:
    """This person's seat at a pair, held or judged."""
    row = db.conn.execute(
        "SELECT seat_no, lease_until IS NULL FROM seat WHERE pair_id = ? AND annotator_id = ?", [pair_id, me]
    ).fetchone()
    return Seat(pair_id, row[0], bool(row[1])) if row else None


def mark_judged(db: Database, seat: Seat) -> None:
    """The seat has a grade: its lease ends, its holder stays."""
    db.conn.execute(
        "UPDATE seat SET lease_until = NULL WHERE pair_id = ? AND seat_no = ?", [seat.pair_id, seat.seat_no]
    )


def open_second_round(db: Database, pair_id: PairId) -> bool:
    """Two more seats, once however often asked; whether they are new."""
    before = db.conn.total_changes
    db.conn.executemany(
        "INSERT OR IGNORE INTO seat (pair_id, seat_no) VALUES (?, ?)",
        ((pair_id, seat_no) for seat_no in SECOND_ROUND_SEATS),
    )
    return db.conn.total_changes > before


def close_second_round(db: Database, pair_id: PairId) -> bool:
    """Take the two further seats away again, if nobody has sat down; whether there were any."""
    cursor = db.conn.execute("DELETE FROM seat WHERE pair_id = ? AND seat_no > 2 AND annotator_id IS NULL", [pair_id])
    return cursor.rowcount > 0


def gone_on_from(db: Database, pair_id: PairId, me: AnnotatorId) -> bool:
    """Whether anybody has gone on from this person's grade of a pair.

    That is: somebody graded it later, or the grade was of the first round and somebody sits at the second.
    """
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM judgement WHERE pair_id = :pair AND annotator_id <> :me AND judgement_id > "
        "(SELECT max(judgement_id) FROM judgement WHERE pair_id = :pair AND annotator_id = :me)) "
        "OR EXISTS (SELECT 1 FROM seat AS mine JOIN seat AS theirs USING (pair_id) WHERE pair_id = :pair "
        "AND mine.annotator_id = :me AND mine.seat_no <= 2 AND theirs.seat_no > 2 AND theirs.annotator_id <> :me)",
        {"pair": pair_id, "me": me},
    ).fetchone()
    return bool(row[0])


def batch_progress(db: Database, me: AnnotatorId, batch_id: BatchId, *, now: float) -> tuple[int, int]:
    """(graded by this person, all that this person grades) in one batch: the "7 of 20" of the screen."""
    graded, holding = db.conn.execute(
        "SELECT coalesce(sum(s.lease_until IS NULL), 0), coalesce(sum(s.lease_until IS NOT NULL), 0) "
        "FROM seat s JOIN pair p USING (pair_id) WHERE s.annotator_id = ? AND p.batch_id = ?",
        [me, batch_id],
    ).fetchone()
    return graded, graded + holding + len(claimable(db, me, batch_id, now=now))


def waiting_for(db: Database, me: AnnotatorId, *, now: float) -> int:
    """Pairs this person could still grade, were their seats not held by other people just now."""
    row = db.conn.execute(
        "SELECT count(DISTINCT p.pair_id) FROM seat s JOIN pair p USING (pair_id) "
        f"WHERE s.lease_until >= :now AND s.annotator_id <> :me AND {_MINE_TO_TAKE}",
        {"me": me, "now": now},
    ).fetchone()
    return int(row[0])
