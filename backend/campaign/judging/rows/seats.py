"""Seats: places for annotators at pairs. They change hands while people work.

A seat is free (nobody), held (somebody, until its lease runs out) or judged (somebody, for good). Because the
rows of a pair *are* its overlap, no count is ever compared with a limit. A held seat is shown once its clip was on the
holder's screen; until then it only lies ahead. Whoever takes the seat, or takes it up again, begins unseen.

What is asked about one person here holds their places at gold pairs (`gold_seats`) too, so that nothing tells those
apart; what is asked about a pair, a batch or the campaign does not.
"""

from dataclasses import dataclass

from backend.campaign.corpus.rows import WHOLE
from backend.campaign.judging.model import Assignment
from backend.campaign.judging.rows import assigned, gold_seats
from backend.ground.ids import AnnotatorId, BatchId, PairId, PairKey, QueryId
from backend.store.engine import Database

SECOND_ROUND_SEATS = (3, 4)
RE_OPENED_SEATS = (5, 6)

_NOBODYS = "annotator_id = NULL, lease_until = NULL, claim_no = NULL, shown_at = NULL"
# A place that anybody may take: nobody's, or somebody's whose lease has run out.
_FREE = "(s.annotator_id IS NULL OR s.lease_until < :now)"
# Pairs this person may sit down at: never twice at the same pair, none they skipped, nothing settled, no broken clip,
# none that an exam asks just now or that they answered in one.
_MINE_TO_TAKE = """
  NOT EXISTS (SELECT 1 FROM seat AS m WHERE m.pair_id = p.pair_id AND m.annotator_id = :me AND m.repeat = 0)
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = p.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
  AND NOT EXISTS (SELECT 1 FROM set_aside AS o WHERE o.pair_id = p.pair_id)
  AND NOT EXISTS (SELECT 1 FROM known_pair AS y WHERE y.pair_id = p.pair_id AND y.annotator_id = :me)
  AND NOT EXISTS (SELECT 1 FROM consensus AS c WHERE c.pair_id = p.pair_id AND c.verdict <> 'escalated')
"""
# Batches with two others at first-round seats; few people sit anywhere, so this is small.
_CROWDED = """
  SELECT h.batch_id FROM seat AS l JOIN pair AS h USING (pair_id)
  WHERE l.lease_until >= :now AND l.seat_no <= 2 AND l.annotator_id <> :me
  GROUP BY h.batch_id HAVING count(DISTINCT l.annotator_id) >= 2
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
    whole: bool


@dataclass(frozen=True, slots=True)
class Seat:
    """One person's place at one pair; `judged` seats never change hands. A grade at a `gold` one is no judgement."""

    pair_id: PairId
    seat_no: int
    judged: bool
    gold: bool = False


def renew(db: Database, me: AnnotatorId, *, now: float, until: float, slack_s: float) -> None:
    """Extend the lease of every seat this person still holds, lapsed or not, unless it was extended `slack_s` ago.

    Nobody's lease can end later than `until`: one that does was given before the clock was set back, and is
    shortened, so that the seat of somebody who is away comes back in time.
    """
    db.conn.execute(
        "UPDATE seat SET lease_until = :until, shown_at = iif(lease_until < :now, NULL, shown_at) "
        "WHERE annotator_id = :me AND lease_until < :until - :slack",
        {"me": me, "now": now, "until": until, "slack": slack_s},
    )
    db.conn.execute("UPDATE seat SET lease_until = :until WHERE lease_until > :until", {"until": until})
    gold_seats.renew(db, me, now=now, until=until, slack_s=slack_s)


def held(db: Database, me: AnnotatorId) -> list[Held]:
    """What this person holds and has not graded, in the order of claiming; broken clips left out."""
    # "+" keeps SQLite from walking all seats this person ever had in the order of claim_no.
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.batch_id, p.query_id, q.text, m.end_s - m.start_s, "
        f"{WHOLE} FROM (SELECT pair_id, claim_no FROM seat WHERE annotator_id = :me AND lease_until IS NOT NULL "
        "UNION ALL SELECT pair_id, claim_no FROM gold_seat WHERE annotator_id = :me AND lease_until IS NOT NULL) AS s "
        "JOIN pair p USING (pair_id) JOIN query q USING (query_id) "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id) ORDER BY +s.claim_no",
        {"me": me},
    )
    return [
        Held(PairId(r[0]), PairKey(r[1]), BatchId(r[2]), QueryId(r[3]), r[4], r[5], bool(r[6]))
        for r in rows  # one person holds a handful
    ]


def claimable(
    db: Database, me: AnnotatorId, batch_id: BatchId, mine: Assignment | None = None, *, now: float, second_round: bool
) -> list[tuple[PairId, int]]:
    """Pairs of a batch at which this person may sit down now, each with its lowest free seat.

    Args:
        db: the database.
        me: the person.
        batch_id: the batch.
        mine: what this person is assigned to; of another batch they get gold alone.
        now: seconds since 1970.
        second_round: only seats from 3 on.
    """
    if not assigned.holds(db, mine, batch_id):
        return gold_seats.claimable(db, me, batch_id)
    rows = db.conn.execute(
        f"SELECT p.pair_id, min(s.seat_no) FROM pair p JOIN seat s USING (pair_id) WHERE p.batch_id = :batch "
        f"AND s.seat_no >= :lowest AND {_FREE} AND {_MINE_TO_TAKE} GROUP BY p.pair_id",
        {"batch": batch_id, "me": me, "now": now, "lowest": min(SECOND_ROUND_SEATS) if second_round else 1},
    )
    return [(PairId(row[0]), row[1]) for row in rows] + gold_seats.claimable(db, me, batch_id)


def crowded(db: Database, me: AnnotatorId, batch_id: BatchId, *, now: float) -> bool:
    """Whether two others sit at first-round seats of a batch just now.

    Two people finish a query together; a third would take pairs out of the middle of their work.
    """
    row = db.conn.execute(f"SELECT :batch IN ({_CROWDED})", {"batch": batch_id, "me": me, "now": now}).fetchone()
    return bool(row[0])


def next_batch(
    db: Database, me: AnnotatorId, mine: Assignment | None = None, *, now: float
) -> tuple[BatchId, bool] | None:
    """The batch to work on next, of what this person is assigned to, and whether only its second-round seats are meant.

    That is the batch with a pair nearest to completion, then judging order. The agenda is walked in this order, and
    the walk ends at the first batch that has something for this person. Crowded batches have only second-round
    seats, unless nothing else is left.
    """
    anybody = db.conn.execute(f"SELECT EXISTS ({_CROWDED})", {"me": me, "now": now}).fetchone()[0]
    # Asked of the batch, before its pairs: an assignment makes the walk shorter, never longer.
    only = assigned.condition(mine, "q")
    inside = f"EXISTS (SELECT 1 FROM batch b JOIN query q USING (query_id) WHERE b.batch_id = a.batch_id{only})"
    gold = gold_seats.next_batch(db, me)
    for politely in (True, False) if anybody else (False,):
        row = db.conn.execute(
            f"SELECT a.batch_id, a.batch_id IN ({_CROWDED}), -a.nearest, a.position FROM agenda a "
            f"WHERE {inside if only else 'TRUE'} "
            "AND EXISTS (SELECT 1 FROM pair p JOIN seat s USING (pair_id) WHERE p.batch_id = a.batch_id "
            f"  AND (s.seat_no >= :second OR NOT (:politely AND a.batch_id IN ({_CROWDED}))) "
            f"  AND {_FREE} AND {_MINE_TO_TAKE}) "
            "ORDER BY a.nearest DESC, a.position, a.batch_id LIMIT 1",
            {"me": me, "now": now, "politely": politely, "second": min(SECOND_ROUND_SEATS), **assigned.values(mine)},
        ).fetchone()
        if gold and (row is None or (-gold_seats.SEAT_NO, gold[1], gold[0]) < (row[2], row[3], row[0])):
            return gold[0], politely and crowded(db, me, gold[0], now=now)
        if row:
            return BatchId(row[0]), politely and bool(row[1])
    return None


def last_batch(db: Database, me: AnnotatorId) -> BatchId | None:
    """The batch in which this person took a seat last."""
    row = db.conn.execute(
        "SELECT p.batch_id FROM (SELECT pair_id, claim_no FROM seat WHERE annotator_id = :me "
        "UNION ALL SELECT pair_id, claim_no FROM gold_seat WHERE annotator_id = :me AND claim_no IS NOT NULL "
        "ORDER BY claim_no DESC LIMIT 1) JOIN pair p USING (pair_id)",
        {"me": me},
    ).fetchone()
    return BatchId(row[0]) if row else None


def is_set_aside(db: Database, pair_id: PairId) -> bool:
    """Whether a pair is handed out to nobody just now, because an exam asks it."""
    row = db.conn.execute("SELECT EXISTS (SELECT 1 FROM set_aside WHERE pair_id = ?)", [pair_id]).fetchone()
    return bool(row[0])


def knows(db: Database, me: AnnotatorId, pair_id: PairId) -> bool:
    """Whether this person has answered a pair in an exam, and may have been told what is right."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM known_pair WHERE pair_id = ? AND annotator_id = ?)", [pair_id, me]
    ).fetchone()
    return bool(row[0])


def free_of(db: Database, pair_id: PairId, *, now: float) -> list[int]:
    """The seats of a pair that nobody sits at, the lowest first."""
    rows = db.conn.execute(
        f"SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {_FREE} ORDER BY s.seat_no",
        {"pair": pair_id, "now": now},
    )
    return [row[0] for row in rows]


def give(db: Database, me: AnnotatorId, pair_id: PairId, seat_no: int) -> Seat:
    """Put somebody at a free seat whose grade is known already: the seat is judged, and was never claimed."""
    db.conn.execute(
        "UPDATE seat SET annotator_id = ?, lease_until = NULL, shown_at = NULL, claim_no = NULL "
        "WHERE pair_id = ? AND seat_no = ?",
        [me, pair_id, seat_no],
    )
    return Seat(pair_id, seat_no, judged=True)


def claim(db: Database, me: AnnotatorId, pair_id: PairId, *, now: float, until: float) -> bool:
    """Sit down at a pair, in one statement: the lowest free seat, if there still is one.

    Returns:
        Whether a seat was had; never a second one at the same pair.
    """
    claim_no = gold_seats.claims(db, me) + 1
    if gold_seats.claim(db, me, pair_id, claim_no, until=until):
        return True
    cursor = db.conn.execute(
        "UPDATE seat SET annotator_id = :me, lease_until = :until, shown_at = NULL, claim_no = :claim_no "
        "WHERE pair_id = :pair AND seat_no = "
        f"(SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {_FREE} ORDER BY s.seat_no LIMIT 1) "
        "AND NOT EXISTS (SELECT 1 FROM seat WHERE pair_id = :pair AND annotator_id = :me AND repeat = 0) "
        "AND NOT EXISTS (SELECT 1 FROM set_aside WHERE pair_id = :pair) "
        "AND NOT EXISTS (SELECT 1 FROM known_pair WHERE pair_id = :pair AND annotator_id = :me)",
        {"me": me, "pair": pair_id, "now": now, "until": until, "claim_no": claim_no},
    )
    return cursor.rowcount == 1


def mark_shown(db: Database, me: AnnotatorId, key: PairKey, *, now: float) -> None:
    """The clip of a pair is on its holder's screen; the first time counts. No word about a pair they do not hold."""
    db.conn.execute(
        "UPDATE seat SET shown_at = :now WHERE pair_id = (SELECT pair_id FROM pair WHERE pair_key = :key) "
        "AND annotator_id = :me AND lease_until >= :now AND shown_at IS NULL",
        {"me": me, "key": key, "now": now},
    )
    gold_seats.mark_shown(db, me, key, now=now)


def release(db: Database, me: AnnotatorId, pair_id: PairId | None = None) -> list[PairId]:
    """Give back every seat this person holds and has not graded, or the one at a pair."""
    rows = db.conn.execute(
        f"UPDATE seat SET {_NOBODYS} "
        "WHERE annotator_id = :me AND lease_until IS NOT NULL AND pair_id = coalesce(:pair, pair_id) RETURNING pair_id",
        {"me": me, "pair": pair_id},
    ).fetchall()
    return [PairId(row[0]) for row in rows] + gold_seats.release(db, me, pair_id)


def release_broken(db: Database, moment_id: int) -> None:
    """Free the ungraded seats at every pair of a moment whose clip cannot be shown."""
    db.conn.execute(
        f"UPDATE seat SET {_NOBODYS} WHERE lease_until IS NOT NULL "
        "AND pair_id IN (SELECT pair_id FROM pair WHERE moment_id = ?)",
        [moment_id],
    )
    gold_seats.release_broken(db, moment_id)


def is_held(db: Database, me: AnnotatorId, pair_id: PairId) -> bool:
    """Whether this person holds a seat of a pair, gold not counted, and has not graded it."""
    row = db.conn.execute(
        "SELECT 1 FROM seat WHERE pair_id = ? AND annotator_id = ? AND lease_until IS NOT NULL", [pair_id, me]
    ).fetchone()
    return row is not None


def seat_of(db: Database, pair_id: PairId, me: AnnotatorId) -> Seat | None:
    """This person's seat at a pair, held or judged."""
    row = db.conn.execute(
        "SELECT seat_no, lease_until IS NULL FROM seat WHERE pair_id = ? AND annotator_id = ? AND repeat = 0",
        [pair_id, me],
    ).fetchone()
    gold = gold_seats.taken(db, pair_id, me)
    if gold is not None:
        return Seat(pair_id, gold_seats.SEAT_NO, gold[0], gold=True)
    return Seat(pair_id, row[0], bool(row[1])) if row else None


def mark_judged(db: Database, seat: Seat, me: AnnotatorId) -> None:
    """The seat has a grade: its lease ends, its holder stays."""
    if seat.gold:
        gold_seats.mark_judged(db, seat.pair_id, me)
        return
    db.conn.execute(
        "UPDATE seat SET lease_until = NULL WHERE pair_id = ? AND seat_no = ?", [seat.pair_id, seat.seat_no]
    )


def open_second_round(db: Database, pair_id: PairId) -> bool:
    """Two more seats, once however often asked; whether they are new."""
    cursor = db.conn.executemany(
        "INSERT OR IGNORE INTO seat (pair_id, seat_no) VALUES (?, ?)",
        ((pair_id, seat_no) for seat_no in SECOND_ROUND_SEATS),
    )
    return cursor.rowcount > 0


def close_second_round(db: Database, pair_id: PairId) -> bool:
    """Take those of the two further seats away again at which nobody has graded; whether there were any.

    Somebody who merely holds one has not seen the pair: `going_on` keeps grades as they are once they have.
    """
    cursor = db.conn.execute(
        "DELETE FROM seat WHERE pair_id = ? AND seat_no > 2 AND (annotator_id IS NULL OR lease_until IS NOT NULL)",
        [pair_id],
    )
    return cursor.rowcount > 0


def re_open(db: Database, pair_id: PairId) -> None:
    """Two more seats at a pair that was discarded."""
    db.conn.executemany(
        "INSERT INTO seat (pair_id, seat_no) VALUES (?, ?)", ((pair_id, seat_no) for seat_no in RE_OPENED_SEATS)
    )


def re_opened_in_use(db: Database, pair_id: PairId, *, now: float) -> str | None:
    """Who has graded a pair since it was re-opened, or has its clip on screen: the first of them."""
    row = db.conn.execute(
        "SELECT a.name FROM seat s JOIN annotator a USING (annotator_id) "
        "WHERE s.pair_id = :pair AND s.seat_no >= :first "
        "AND (s.lease_until IS NULL OR (s.shown_at IS NOT NULL AND s.lease_until >= :now)) ORDER BY s.seat_no LIMIT 1",
        {"pair": pair_id, "first": min(RE_OPENED_SEATS), "now": now},
    ).fetchone()
    return row[0] if row else None


def close_re_opened(db: Database, pair_id: PairId) -> None:
    """Take the seats of a re-opened pair away again, which nobody has used."""
    db.conn.execute("DELETE FROM seat WHERE pair_id = ? AND seat_no >= ?", [pair_id, min(RE_OPENED_SEATS)])


def graded(db: Database, me: AnnotatorId) -> int:
    """How many pairs this person has graded: all their seats but those they hold."""
    count: int = db.conn.execute(
        "SELECT (SELECT count(*) FROM seat WHERE annotator_id = :me AND repeat = 0) "
        "- (SELECT count(*) FROM seat WHERE annotator_id = :me AND lease_until IS NOT NULL)",
        {"me": me},
    ).fetchone()[0]
    return count + gold_seats.graded(db, me)


def batch_progress(
    db: Database, me: AnnotatorId, batch_id: BatchId, mine: Assignment | None = None, *, now: float
) -> tuple[int, int]:
    """(graded by this person, all that this person grades) in one batch: the "7 of 20" of the screen."""
    # CROSS JOIN: from the few pairs of the batch to their seats, not from all seats this person ever had.
    graded, holding = db.conn.execute(
        "SELECT coalesce(sum(s.lease_until IS NULL), 0), coalesce(sum(s.lease_until IS NOT NULL), 0) "
        "FROM pair p CROSS JOIN seat s USING (pair_id) WHERE p.batch_id = ? AND s.annotator_id = ? AND s.repeat = 0",
        [batch_id, me],
    ).fetchone()
    more, further = gold_seats.batch_progress(db, me, batch_id)
    graded, holding = graded + more, holding + further
    second_round = crowded(db, me, batch_id, now=now)
    return graded, graded + holding + len(claimable(db, me, batch_id, mine, now=now, second_round=second_round))


def waiting_for(db: Database, me: AnnotatorId, mine: Assignment | None = None, *, now: float) -> int:
    """Pairs this person could still grade, were their seats not held by other people just now."""
    only = assigned.condition(mine, "q")
    with_query = "JOIN query q USING (query_id) " if only else ""
    row = db.conn.execute(
        f"SELECT count(DISTINCT p.pair_id) FROM seat s JOIN pair p USING (pair_id) {with_query}"
        f"WHERE s.lease_until >= :now AND s.annotator_id <> :me AND {_MINE_TO_TAKE}{only}",
        {"me": me, "now": now, **assigned.values(mine)},
    ).fetchone()
    return int(row[0])


def free_lapsed(db: Database, pair_id: PairId) -> None:
    """Free the places of people who went away without grading the pair: nobody grades what everybody is shown."""
    db.conn.execute(
        f"UPDATE seat SET {_NOBODYS} WHERE pair_id = ? AND lease_until IS NOT NULL",
        [pair_id],
    )
    gold_seats.free_lapsed(db, pair_id)
