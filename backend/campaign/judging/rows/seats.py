"""Seats: places for annotators at pairs. They change hands while people work.

A seat is free (nobody), held (somebody, until its lease runs out) or judged (somebody, for good). Because the
rows of a pair *are* its overlap, no count is ever compared with a limit. While a lead's decision on a pair stands, its
seats are closed: nobody sits down at them, but whoever holds one may still grade. A held seat is shown once its clip
was on the holder's screen; until then it only lies ahead. Whoever takes the seat, or takes it up again, begins unseen.

What is asked about one person here holds their places at gold pairs (`gold_seat`) too, so that nothing tells those
apart; what is asked about a pair, a batch or the campaign does not. Such a place is for one person alone. To them it is
one of the second round, at a pair that waits for its last grade: it is offered, claimed, held under a lease, shown,
given back and graded by the same acts. Its grades are no judgements, and nobody else gets to know of it. Who is offered
which pair is the business of `backend.campaign.qualification.gold`.
"""

from dataclasses import dataclass

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.nouns import FIRST_ROUND_SEATS, RE_OPENED_SEATS, SECOND_ROUND_SEATS
from backend.core.ids import AnnotatorId, BatchId, PairId, PairKey, QueryId
from backend.store.engine import Database

_UNCLAIMED = "lease_until = NULL, claim_no = NULL, shown_at = NULL, claimed_at = NULL"
_GIVEN_BACK = {"seat": f"annotator_id = NULL, {_UNCLAIMED}", "gold_seat": _UNCLAIMED}
"""What becomes of a place that its holder leaves: anybody may take a seat, a place at a gold pair stays theirs."""
# A place that anybody may take: nobody's, or somebody's whose lease has run out; never a closed one.
FREE = "(s.closed = 0 AND (s.annotator_id IS NULL OR s.lease_until < :now))"
"""The condition on such a seat `s`, for other statements; `:now` in seconds since 1970."""
GRADED = (
    "(SELECT count(*) FROM seat WHERE annotator_id = :me AND repeat = 0) "
    "- (SELECT count(*) FROM seat WHERE annotator_id = :me AND lease_until IS NOT NULL) + "
    "(SELECT count(*) FROM gold_seat WHERE annotator_id = :me AND claim_no IS NOT NULL AND lease_until IS NULL)"
)
"""How many pairs somebody has graded: all their seats but those they hold."""
GOLD_SEAT_NO = 4
"""The seat that such a place looks like; a batch with one is handed out before those with less to it."""

# Offered to this person, and a clip to show; what they skipped is not offered again.
_GOLD_TO_TAKE = """
  g.annotator_id = :me AND g.claim_no IS NULL
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = g.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
"""
# The first and the last lease are the ends of an index, whatever PostgreSQL thinks of how many there may be.
_DUE = """
  (SELECT min(lease_until) FROM {table} WHERE annotator_id = :me AND lease_until IS NOT NULL) < :until - :slack
  OR (SELECT max(lease_until) FROM {table} WHERE lease_until IS NOT NULL) > :until
"""
"""Whether leases at seats, or at these places, are to be renewed or shortened: mostly none is."""
# CROSS JOIN, here and below: from the few offers to their pairs, never from a batch or all pairs.
GOLD_CLAIMABLE = (
    f"SELECT g.pair_id, {GOLD_SEAT_NO} AS seat_no FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
    f"WHERE p.batch_id = :batch AND {_GOLD_TO_TAKE}"
)
"""(pair, the seat that it looks like) of all that is offered to a person in a batch."""
GOLD_NEXT_BATCH = (
    "SELECT p.batch_id, q.position FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
    f"CROSS JOIN query q USING (query_id) WHERE {_GOLD_TO_TAKE} ORDER BY q.position, p.batch_id LIMIT 1"
)
"""The first batch, in judging order, with a pair that is offered to a person, and its place in that order."""
_CLAIMS = (
    "(SELECT max(coalesce((SELECT max(claim_no) FROM seat WHERE annotator_id = :me), 0), "
    "coalesce((SELECT max(claim_no) FROM gold_seat WHERE annotator_id = :me), 0)))"
)


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
    claimed_at: float | None = None
    """When the person took it, in seconds since 1970; None if that is not known."""


def renew(db: Database, me: AnnotatorId, *, now: float, until: float, slack_s: float) -> None:
    """Extend the lease of every seat this person still holds, lapsed or not, unless it was extended `slack_s` ago.

    Nobody's lease can end later than `until`: one that does was given before the clock was set back, and is
    shortened, so that the seat of somebody who is away comes back in time.
    """
    tables = ("seat", "gold_seat")
    found = db.conn.execute(
        "SELECT " + " OR ".join(_DUE.format(table=table) for table in tables),
        {"me": me, "until": until, "slack": slack_s},
    ).fetchone()
    for table in tables if found[0] else ():
        db.conn.execute(
            f"UPDATE {table} SET lease_until = :until, shown_at = iif(lease_until < :now, NULL, shown_at) "
            "WHERE annotator_id = :me AND lease_until < :until - :slack",
            {"me": me, "now": now, "until": until, "slack": slack_s},
        )
        db.conn.execute(f"UPDATE {table} SET lease_until = :until WHERE lease_until > :until", {"until": until})


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
        f"SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {FREE} ORDER BY s.seat_no",
        {"pair": pair_id, "now": now},
    )
    return [row[0] for row in rows]


def give(db: Database, me: AnnotatorId, pair_id: PairId, seat_no: int) -> Seat:
    """Put somebody at a free seat whose grade is known already: the seat is judged, and was never claimed."""
    db.conn.execute(
        "UPDATE seat SET annotator_id = ?, lease_until = NULL, shown_at = NULL, claim_no = NULL, "
        "claimed_at = NULL WHERE pair_id = ? AND seat_no = ?",
        [me, pair_id, seat_no],
    )
    return Seat(pair_id, seat_no, judged=True)


def claim(db: Database, me: AnnotatorId, pair_id: PairId, *, now: float, until: float) -> bool:
    """Sit down at a pair, in one statement: the lowest free seat, if there still is one.

    A seat of nobody is taken before one whose lease ran out: its holder may come back with a grade.

    Returns:
        Whether a seat was had; never a second one at the same pair.
    """
    values = {"me": me, "pair": pair_id, "now": now, "until": until}
    cursor = db.conn.execute(
        "UPDATE seat SET annotator_id = :me, lease_until = :until, shown_at = NULL, claimed_at = :now, "
        f"claim_no = 1 + {_CLAIMS} WHERE pair_id = :pair AND seat_no = "
        f"(SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {FREE} "
        "ORDER BY s.annotator_id IS NOT NULL, s.seat_no LIMIT 1) "
        "AND NOT EXISTS (SELECT 1 FROM seat WHERE pair_id = :pair AND annotator_id = :me AND repeat = 0) "
        "AND NOT EXISTS (SELECT 1 FROM set_aside WHERE pair_id = :pair) "
        "AND NOT EXISTS (SELECT 1 FROM known_pair WHERE pair_id = :pair AND annotator_id = :me) "
        "AND NOT EXISTS (SELECT 1 FROM gold_seat WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NULL)",
        values,
    )
    if not cursor.rowcount:
        cursor = db.conn.execute(
            f"UPDATE gold_seat SET lease_until = :until, claim_no = 1 + {_CLAIMS}, shown_at = NULL, claimed_at = :now "
            "WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NULL",
            values,
        )
    return cursor.rowcount == 1


def claims_made(db: Database, me: AnnotatorId) -> int:
    """The number of the last claim of this person, of seats and gold together; 0 without any."""
    return int(db.conn.execute(f"SELECT {_CLAIMS}", {"me": me}).fetchone()[0])


def mark_shown(db: Database, me: AnnotatorId, key: PairKey, *, now: float) -> None:
    """The clip of a pair is on its holder's screen; the first time counts. No word about a pair they do not hold."""
    for table in ("seat", "gold_seat"):  # a place at one of them
        cursor = db.conn.execute(
            f"UPDATE {table} SET shown_at = :now WHERE pair_id = (SELECT pair_id FROM pair WHERE pair_key = :key) "
            "AND annotator_id = :me AND lease_until >= :now AND shown_at IS NULL",
            {"me": me, "key": key, "now": now},
        )
        if cursor.rowcount:
            return


def release(db: Database, me: AnnotatorId, pair_id: PairId | None = None) -> list[PairId]:
    """Give back every seat this person holds and has not graded, or the one at a pair."""
    return [
        PairId(row[0])
        for table, given_back in _GIVEN_BACK.items()
        for row in db.conn.execute(
            f"UPDATE {table} SET {given_back} WHERE annotator_id = :me AND lease_until IS NOT NULL "
            "AND pair_id = coalesce(:pair, pair_id) RETURNING pair_id",
            {"me": me, "pair": pair_id},
        ).fetchall()
    ]


def release_broken(db: Database, moment_id: int) -> None:
    """Free the ungraded seats at every pair of a moment whose clip cannot be shown."""
    for table, given_back in _GIVEN_BACK.items():
        db.conn.execute(
            f"UPDATE {table} SET {given_back} WHERE lease_until IS NOT NULL "
            "AND pair_id IN (SELECT pair_id FROM pair WHERE moment_id = ?)",
            [moment_id],
        )


def is_held(db: Database, me: AnnotatorId, pair_id: PairId) -> bool:
    """Whether this person holds a seat of a pair, gold not counted, and has not graded it."""
    row = db.conn.execute(
        "SELECT 1 FROM seat WHERE pair_id = ? AND annotator_id = ? AND lease_until IS NOT NULL", [pair_id, me]
    ).fetchone()
    return row is not None


def seat_of(db: Database, pair_id: PairId, me: AnnotatorId) -> Seat | None:
    """This person's seat at a pair, held or judged."""
    row = db.conn.execute(
        "SELECT seat_no, lease_until IS NULL, 0 AS gold, claimed_at FROM seat "
        "WHERE pair_id = :pair AND annotator_id = :me AND repeat = 0 "
        f"UNION ALL SELECT {GOLD_SEAT_NO}, lease_until IS NULL, 1, claimed_at FROM gold_seat "
        "WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NOT NULL ORDER BY gold DESC LIMIT 1",
        {"pair": pair_id, "me": me},
    ).fetchone()
    return Seat(pair_id, row[0], bool(row[1]), gold=bool(row[2]), claimed_at=row[3]) if row else None


def mark_judged(db: Database, seat: Seat, me: AnnotatorId) -> None:
    """The seat has a grade: its lease ends, its holder stays."""
    if seat.gold:
        db.conn.execute(
            "UPDATE gold_seat SET lease_until = NULL WHERE pair_id = ? AND annotator_id = ?", [seat.pair_id, me]
        )
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
        "DELETE FROM seat WHERE pair_id = ? AND seat_no > ? AND (annotator_id IS NULL OR lease_until IS NOT NULL)",
        [pair_id, max(FIRST_ROUND_SEATS)],
    )
    return cursor.rowcount > 0


def close(db: Database, pair_id: PairId) -> None:
    """Let nobody sit down at a pair any more; seats that people hold stay theirs."""
    db.conn.execute(
        "UPDATE seat SET closed = 1 WHERE pair_id = ? AND closed = 0 "
        "AND (annotator_id IS NULL OR lease_until IS NOT NULL)",
        [pair_id],
    )


def open_again(db: Database, pair_id: PairId) -> None:
    """Take back that the seats of a pair are closed."""
    db.conn.execute("UPDATE seat SET closed = 0 WHERE pair_id = ? AND closed = 1", [pair_id])


def close_decided(db: Database) -> None:
    """Close the seats of all pairs on which a lead's decision stands."""
    db.conn.execute(
        "UPDATE seat SET closed = 1 WHERE closed = 0 AND (annotator_id IS NULL OR lease_until IS NOT NULL) "
        "AND pair_id IN (SELECT pair_id FROM lead_act WHERE kind = 'decided' AND stands)"
    )


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
    """How many pairs this person has graded."""
    count: int = db.conn.execute(f"SELECT {GRADED}", {"me": me}).fetchone()[0]
    return count


def free_lapsed(db: Database, pair_id: PairId) -> None:
    """Free the places of people who went away without grading the pair: nobody grades what everybody is shown."""
    for table, given_back in _GIVEN_BACK.items():
        db.conn.execute(f"UPDATE {table} SET {given_back} WHERE pair_id = ? AND lease_until IS NOT NULL", [pair_id])
