"""Run the SQL for seats, the places for annotators at pairs: free, held for a limited time, or graded.

A seat is free, held by an annotator until the lease (the time reserved) runs out, or graded by an annotator for good.
Each pair has one row in the table `seat` for each grade that it may get. So no code has to compare the number of grades
with a limit. While a lead's decision on a pair is in force, its seats are closed: nobody can take them, but whoever
holds one may still grade. A held seat is marked as shown once its clip was on the holder's screen. The mark is removed
when somebody else takes the seat, or when the holder comes back after the lease ran out.

A gold question is a pair with a known grade, hidden in an annotator's normal work. Its seat is for one person alone
(table `gold_seat`). To that person it looks like a seat at a pair that waits for its last grade: the same functions
offer, claim, hold, show, give back and grade it. Its grades are no judgements, and nobody else learns of it. Functions
about one person include their gold questions, so that the person cannot tell them from other pairs. Functions about a
pair, a batch or the campaign leave them out. `backend.campaign.qualification.gold` chooses the gold questions of each
person.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.judging.model import SEATS_CLAIMED
from backend.campaign.nouns import FIRST_ROUND_SEATS, RE_OPENED_SEATS, SECOND_ROUND_SEATS
from backend.core.ids import AnnotatorId, BatchId, PairId, PairKey, QueryId
from backend.store.engine import Database, Select, fetch_one, run_later

_UNCLAIMED = "lease_until = NULL, claim_no = NULL, shown_at = NULL, claimed_at = NULL"
_GIVEN_BACK = {"seat": f"annotator_id = NULL, {_UNCLAIMED}", "gold_seat": _UNCLAIMED}
"""SQL assignments that give a place back: a seat becomes free for anybody, a gold question stays its holder's."""
FREE = "(s.closed = 0 AND (s.annotator_id IS NULL OR s.lease_until < :now))"
"""SQL condition that anybody may take seat `s`: it is not closed, and has no holder or one whose lease ran out.

`:now` is in seconds since 1970."""
GRADED = (
    "(SELECT count(*) FROM seat WHERE annotator_id = :me AND repeat = 0) "
    "- (SELECT count(*) FROM seat WHERE annotator_id = :me AND lease_until IS NOT NULL) + "
    "(SELECT count(*) FROM gold_seat WHERE annotator_id = :me AND claim_no IS NOT NULL AND lease_until IS NULL)"
)
"""SQL for the number of pairs that a person has graded: all their seats except those they hold."""
GOLD_SEAT_NO = 4
"""The seat that a gold question looks like: its batch counts as nearly complete, and is handed out early."""

# Offered to this person, not skipped by them, and with a clip to show.
_GOLD_TO_TAKE = """
  g.annotator_id = :me AND g.claim_no IS NULL
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = g.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
"""
# min and max read only the two ends of an index, even if PostgreSQL expects many rows.
_DUE = """
  (SELECT min(lease_until) FROM {table} WHERE annotator_id = :me AND lease_until IS NOT NULL) < :until - :slack
  OR (SELECT max(lease_until) FROM {table} WHERE lease_until IS NOT NULL) > :until
"""
"""SQL for whether any lease in a table has to be renewed or shortened: mostly none has to."""
# CROSS JOIN, here and below, starts at the few offers, never at a batch or at all pairs.
GOLD_CLAIMABLE = (
    f"SELECT g.pair_id, {GOLD_SEAT_NO} AS seat_no, p.batch_id FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
    f"WHERE p.batch_id IN (SELECT value FROM json_each(:batches)) AND {_GOLD_TO_TAKE}"
)
"""SQL for the gold questions offered to a person in batches: each pair with the seat that it looks like."""
GOLD_NEXT_BATCH = (
    "SELECT p.batch_id, q.position FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
    f"CROSS JOIN query q USING (query_id) WHERE {_GOLD_TO_TAKE} ORDER BY q.position, p.batch_id LIMIT 1"
)
"""SQL for the first batch in judging order with a gold question for a person, and the position of its query."""
_CLAIMS = (
    "(SELECT max(coalesce((SELECT max(claim_no) FROM seat WHERE annotator_id = :me), 0), "
    "coalesce((SELECT max(claim_no) FROM gold_seat WHERE annotator_id = :me), 0)))"
)


# The conditions on the seat itself are checked again on a row for which this waited.
_CLAIM = (
    "UPDATE seat SET annotator_id = :me, lease_until = :until, shown_at = NULL, claimed_at = :now, "
    f"claim_no = 1 + {_CLAIMS} WHERE pair_id = :pair AND seat_no = "
    f"(SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {FREE} "
    f"ORDER BY s.annotator_id IS NOT NULL, s.seat_no LIMIT 1) AND {FREE.replace('s.', '')} "
    "AND NOT EXISTS (SELECT 1 FROM seat WHERE pair_id = :pair AND annotator_id = :me AND repeat = 0) "
    "AND NOT EXISTS (SELECT 1 FROM set_aside WHERE pair_id = :pair) "
    "AND NOT EXISTS (SELECT 1 FROM known_pair WHERE pair_id = :pair AND annotator_id = :me) "
    "AND NOT EXISTS (SELECT 1 FROM gold_seat WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NULL)",
    f"UPDATE gold_seat SET lease_until = :until, claim_no = 1 + {_CLAIMS}, shown_at = NULL, claimed_at = :now "
    "WHERE pair_id = :pair AND annotator_id = :me AND claim_no IS NULL",
)
"""SQL that takes a seat at a pair, and SQL that takes a gold question: for one pair at most one of them finds any."""


@dataclass(frozen=True, slots=True)
class HeldPair:
    """A pair that is reserved for an annotator, who has not graded it yet.

    `pair_key` is the random key that browsers use. `whole` says that the moment is the whole video. `on_screen` says
    that its clip was on the annotator's screen. `until` is when the reservation ends, in seconds since 1970.
    """

    pair_id: PairId
    pair_key: PairKey
    batch_id: BatchId
    query_id: QueryId
    query: str
    duration_s: float
    whole: bool
    on_screen: bool
    until: float


@dataclass(frozen=True, slots=True)
class Seat:
    """The seat of one annotator at one pair, their place to grade it.

    `claimed_at` is when they took it, in seconds since 1970; None if unknown. A `judged` seat has a grade and stays
    with this annotator for good. If it is `gold`, the pair is a gold question (a hidden pair with a known grade), and
    its grade is no judgement.
    """

    pair_id: PairId
    seat_no: int
    judged: bool
    gold: bool = False
    claimed_at: float | None = None


def renew(db: Database, me: AnnotatorId, *, now: float, until: float, slack_s: float) -> None:
    """Extend the time for which pairs are reserved for an annotator to `until`, in seconds since 1970.

    A reservation that has run out is extended too if nobody else took the place. One that was extended less than
    `slack_s` seconds ago stays as it is. If anybody's reservation ends after `until`, it was made before the clock was
    set back. It is shortened, so that the places of people who left become free in time.
    """
    for table in _GIVEN_BACK:
        run_later(
            db,
            f"UPDATE {table} SET lease_until = :until, shown_at = iif(lease_until < :now, NULL, shown_at) "
            "WHERE annotator_id = :me AND lease_until < :until - :slack",
            {"me": me, "now": now, "until": until, "slack": slack_s},
        )
        run_later(db, f"UPDATE {table} SET lease_until = :until WHERE lease_until > :until", {"until": until})


def due_select(me: AnnotatorId, *, until: float, slack_s: float) -> Select[bool]:
    """Select whether `renew` with these arguments would change any row: mostly it would not."""
    sql = "SELECT " + " OR ".join(_DUE.format(table=table) for table in _GIVEN_BACK) + " AS due"
    return Select(sql, {"me": me, "until": until, "slack": slack_s}, lambda rows: bool(rows[0][0]))


def held_pairs(db: Database, me: AnnotatorId) -> list[HeldPair]:
    """Return the pairs that are reserved for this annotator and not graded, in the order in which they were taken.

    Pairs whose clip cannot be shown are left out.
    """
    return fetch_one(db, held_select(me))


def held_select(me: AnnotatorId) -> Select[list[HeldPair]]:
    """Select the pairs that are reserved for this annotator and not graded; see `held_pairs`."""
    # "+" keeps SQLite from reading all seats that this person ever had in the order of claim_no.
    return Select(
        "SELECT p.pair_id, p.pair_key, p.batch_id, p.query_id, q.text, m.end_s - m.start_s, "
        f"{WHOLE}, s.shown_at IS NOT NULL, s.lease_until FROM (SELECT pair_id, claim_no, shown_at, lease_until "
        "FROM seat WHERE annotator_id = :me AND lease_until IS NOT NULL "
        "UNION ALL SELECT pair_id, claim_no, shown_at, lease_until "
        "FROM gold_seat WHERE annotator_id = :me AND lease_until IS NOT NULL) AS s "
        "JOIN pair p USING (pair_id) JOIN query q USING (query_id) "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id) ORDER BY +s.claim_no",
        {"me": me},
        lambda rows: [_held(*row) for row in rows],
    )


def _held(
    pair: int, key: str, batch: int, query_id: int, query: str, duration_s: float, whole: int, shown: int, until: float
) -> HeldPair:
    ids = PairId(pair), PairKey(key), BatchId(batch), QueryId(query_id)
    return HeldPair(*ids, query, duration_s, bool(whole), bool(shown), until)


class WorkPlaces(NamedTuple):
    """Where an annotator works; a batch is a group of pairs of one query.

    Attributes:
        newest: the batch from which they last took a pair; None if they never took one.
        held: the batches of the pairs that they hold.
        pairs: how many pairs they hold.
    """

    newest: BatchId | None
    held: frozenset[BatchId]
    pairs: int


def places_select(me: AnnotatorId) -> Select[WorkPlaces]:
    """Select where an annotator works."""
    return Select(
        "SELECT p.batch_id, 0 AS held FROM (SELECT pair_id, claim_no FROM seat WHERE annotator_id = :me "
        "UNION ALL SELECT pair_id, claim_no FROM gold_seat WHERE annotator_id = :me AND claim_no IS NOT NULL "
        "ORDER BY claim_no DESC LIMIT 1) AS newest JOIN pair p USING (pair_id) "
        "UNION ALL SELECT p.batch_id, 1 FROM (SELECT pair_id FROM seat "
        "WHERE annotator_id = :me AND lease_until IS NOT NULL UNION ALL SELECT pair_id FROM gold_seat "
        "WHERE annotator_id = :me AND lease_until IS NOT NULL) AS s JOIN pair p USING (pair_id)",
        {"me": me},
        lambda rows: WorkPlaces(
            next((BatchId(row[0]) for row in rows if not row[1] and row[0] is not None), None),
            frozenset(BatchId(row[0]) for row in rows if row[1]),
            sum(row[1] for row in rows),
        ),
    )


def is_set_aside(db: Database, pair_id: PairId) -> bool:
    """Return whether a pair is used in an exam or calibration round now, so that nobody gets it in the normal work.

    In a calibration round, everybody grades the same few pairs.
    """
    row = db.conn.execute("SELECT EXISTS (SELECT 1 FROM set_aside WHERE pair_id = ?)", [pair_id]).fetchone()
    return bool(row[0])


def answered_in_exam(db: Database, me: AnnotatorId, pair_id: PairId) -> bool:
    """Return whether this annotator has answered a pair in an exam, and so may know the right grade."""
    return fetch_one(db, in_exam_select(pair_id, me))


def in_exam_select(pair_id: PairId, me: AnnotatorId) -> Select[bool]:
    """Select whether this annotator has answered a pair in an exam."""
    return Select(
        "SELECT EXISTS (SELECT 1 FROM known_pair WHERE pair_id = :pair AND annotator_id = :me) AS answered",
        {"pair": pair_id, "me": me},
        lambda rows: bool(rows[0][0]),
    )


def free_of(db: Database, pair_id: PairId, *, now: float) -> list[int]:
    """Return the numbers of the free seats (places for annotators) of a pair, the lowest first."""
    rows = db.conn.execute(
        f"SELECT s.seat_no FROM seat AS s WHERE s.pair_id = :pair AND {FREE} ORDER BY s.seat_no",
        {"pair": pair_id, "now": now},
    )
    return [row[0] for row in rows]


def assign_seat(db: Database, me: AnnotatorId, pair_id: PairId, seat_no: int) -> Seat:
    """Give a free seat (a place at a pair) to an annotator whose grade is already known.

    The seat counts as graded at once.
    """
    db.conn.execute(
        "UPDATE seat SET annotator_id = ?, lease_until = NULL, shown_at = NULL, claim_no = NULL, "
        "claimed_at = NULL WHERE pair_id = ? AND seat_no = ?",
        [me, pair_id, seat_no],
    )
    return Seat(pair_id, seat_no, judged=True)


def claim(db: Database, me: AnnotatorId, pair_id: PairId, *, now: float, until: float) -> bool:
    """Reserve a pair for an annotator until `until` (seconds since 1970), by taking a free seat (place) at it for them.

    If the pair is a gold question (a hidden pair with a known grade) of this annotator, its special seat is taken. A
    single SQL statement takes the seat, so two people cannot take the same one. Seats without a holder are taken before
    those whose time has run out, because the holder may come back with a grade.

    Returns:
        Whether the annotator got a seat. Nobody gets a second one at the same pair.
    """
    values = {"me": me, "pair": pair_id, "now": now, "until": until}
    return any(db.conn.execute(statement, values).rowcount == 1 for statement in _CLAIM)


def claim_all(
    db: Database, me: AnnotatorId, pairs: Sequence[PairId], before: int, *, gold: bool, now: float, until: float
) -> None:
    """Reserve these pairs for an annotator, as `claim` does, and record the pairs that they got in the event log.

    `before` is the number of their last claim; see `claims_select`. With `gold`, gold questions may be among the pairs.
    """
    for pair_id in pairs:
        for statement in _CLAIM if gold else _CLAIM[:1]:
            run_later(db, statement, {"me": me, "pair": pair_id, "now": now, "until": until})
    run_later(
        db,
        "INSERT INTO event (at, actor, kind, subject, payload) "
        "SELECT :at, :me, :kind, :subject, '{\"pairs\":[' || group_concat(pair_id) || ']}' FROM ("
        "SELECT pair_id, claim_no FROM seat WHERE annotator_id = :me AND claim_no > :before "
        "UNION ALL SELECT pair_id, claim_no FROM gold_seat WHERE annotator_id = :me AND claim_no > :before "
        "ORDER BY claim_no) AS taken HAVING count(*) > 0",
        {"at": now, "me": me, "kind": SEATS_CLAIMED.kind, "subject": f"annotator:{me}", "before": before},
    )


def claims_select(me: AnnotatorId) -> Select[int]:
    """Select the serial number of this annotator's last claim, by which they took a pair to grade; 0 if there is none.

    Each annotator's claims are numbered from 1. Claims of gold questions (hidden pairs with known grades) count too.
    """
    return Select(f"SELECT {_CLAIMS} AS claims", {"me": me}, lambda rows: int(rows[0][0]))


def mark_shown(db: Database, me: AnnotatorId, key: PairKey, *, now: float) -> None:
    """Record that the clip of a pair is on the screen of the annotator for whom it is reserved; the first time is kept.

    Nothing happens if the pair is not reserved for this annotator.
    """
    for table in _GIVEN_BACK:
        run_later(
            db,
            f"UPDATE {table} SET shown_at = :now WHERE pair_id = (SELECT pair_id FROM pair WHERE pair_key = :key) "
            "AND annotator_id = :me AND lease_until >= :now AND shown_at IS NULL",
            {"me": me, "key": key, "now": now},
        )


def release(db: Database, me: AnnotatorId, pair_id: PairId | None = None) -> list[PairId]:
    """Free the pairs that are reserved for this annotator and not graded, or only `pair_id`; return the pairs freed."""
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
    """Free all reserved and ungraded places at the pairs of a moment whose clip cannot be shown."""
    for table, given_back in _GIVEN_BACK.items():
        db.conn.execute(
            f"UPDATE {table} SET {given_back} WHERE lease_until IS NOT NULL "
            "AND pair_id IN (SELECT pair_id FROM pair WHERE moment_id = ?)",
            [moment_id],
        )


def is_held(db: Database, me: AnnotatorId, pair_id: PairId) -> bool:
    """Return whether a pair is reserved for this annotator and not graded yet.

    False for gold questions, which are hidden pairs with known grades.
    """
    row = db.conn.execute(
        "SELECT 1 FROM seat WHERE pair_id = ? AND annotator_id = ? AND lease_until IS NOT NULL", [pair_id, me]
    ).fetchone()
    return row is not None


def seat_of(db: Database, pair_id: PairId, me: AnnotatorId) -> Seat | None:
    """Return this annotator's seat (place) at a pair, reserved or graded; None if they have none."""
    return fetch_one(db, seat_of_select(pair_id, me))


def seat_of_select(pair_id: PairId, me: AnnotatorId) -> Select[Seat | None]:
    """Select this annotator's seat (place) at a pair, reserved or graded; None if they have none."""
    return _seat_select("pair_id = :pair", me, pair_id)


def seat_by_key_select(key: PairKey, me: AnnotatorId) -> Select[Seat | None]:
    """Select this annotator's seat at the pair with this key; None if they have none."""
    return _seat_select("pair_id = (SELECT pair_id FROM pair WHERE pair_key = :pair)", me, key)


def _seat_select(condition: str, me: AnnotatorId, pair: PairId | PairKey) -> Select[Seat | None]:
    return Select(
        "SELECT pair_id, seat_no, lease_until IS NULL AS judged, 0 AS gold, claimed_at FROM seat "
        f"WHERE {condition} AND annotator_id = :me AND repeat = 0 "
        f"UNION ALL SELECT pair_id, {GOLD_SEAT_NO}, lease_until IS NULL, 1, claimed_at FROM gold_seat "
        f"WHERE {condition} AND annotator_id = :me AND claim_no IS NOT NULL ORDER BY gold DESC LIMIT 1",
        {"pair": pair, "me": me},
        lambda rows: (
            Seat(PairId(rows[0][0]), rows[0][1], bool(rows[0][2]), gold=bool(rows[0][3]), claimed_at=rows[0][4])
            if rows
            else None
        ),
    )


def mark_judged(db: Database, seat: Seat, me: AnnotatorId) -> None:
    """Mark a seat (an annotator's place at a pair) as graded, so that it stays with its holder for good."""
    if seat.gold:
        sql = "UPDATE gold_seat SET lease_until = NULL WHERE pair_id = ? AND annotator_id = ?"
        run_later(db, sql, [seat.pair_id, me])
    else:
        sql = "UPDATE seat SET lease_until = NULL WHERE pair_id = ? AND seat_no = ?"
        run_later(db, sql, [seat.pair_id, seat.seat_no])


def second_round_select(pair_id: PairId, me: AnnotatorId | None) -> Select[tuple[bool, bool]]:
    """Select whether a pair has the seats of the second round, and whether any is ungraded that is not of `me`."""
    return Select(
        "SELECT count(*), coalesce(sum((annotator_id IS NULL OR lease_until IS NOT NULL) "
        "AND coalesce(annotator_id, 0) <> :me), 0) FROM seat WHERE pair_id = :pair AND seat_no > :first",
        {"pair": pair_id, "me": me or 0, "first": max(FIRST_ROUND_SEATS)},
        lambda rows: (rows[0][0] >= len(SECOND_ROUND_SEATS), rows[0][1] > 0),
    )


def open_second_round(db: Database, pair_id: PairId) -> None:
    """Add two seats (places for annotators) to a pair whose first two grades disagree, unless it has them already."""
    for seat_no in SECOND_ROUND_SEATS:
        run_later(db, "INSERT OR IGNORE INTO seat (pair_id, seat_no) VALUES (?, ?)", [pair_id, seat_no])


def close_second_round(db: Database, pair_id: PairId) -> None:
    """Remove a pair's seats (places for annotators) beyond the first two, unless they have a grade.

    This happens when a correction makes the first two grades agree. A holder of such a seat has not seen the pair yet;
    otherwise `annotator_has_gone_on` would have forbidden the correction.
    """
    run_later(
        db,
        "DELETE FROM seat WHERE pair_id = ? AND seat_no > ? AND (annotator_id IS NULL OR lease_until IS NOT NULL)",
        [pair_id, max(FIRST_ROUND_SEATS)],
    )


def close(db: Database, pair_id: PairId) -> None:
    """Stop giving the pair to more annotators; those for whom it is already reserved may still grade it."""
    db.conn.execute(
        "UPDATE seat SET closed = 1 WHERE pair_id = ? AND closed = 0 "
        "AND (annotator_id IS NULL OR lease_until IS NOT NULL)",
        [pair_id],
    )


def open_again(db: Database, pair_id: PairId) -> None:
    """Give a pair to annotators again after `close`."""
    db.conn.execute("UPDATE seat SET closed = 0 WHERE pair_id = ? AND closed = 1", [pair_id])


def close_decided(db: Database) -> None:
    """Stop giving out all pairs on which a lead's decision is in force; see `close`."""
    db.conn.execute(
        "UPDATE seat SET closed = 1 WHERE closed = 0 AND (annotator_id IS NULL OR lease_until IS NOT NULL) "
        "AND pair_id IN (SELECT pair_id FROM lead_act WHERE kind = 'decided' AND stands)"
    )


def re_open(db: Database, pair_id: PairId) -> None:
    """Add two seats (places for annotators) to a discarded pair that a lead re-opens."""
    db.conn.executemany(
        "INSERT INTO seat (pair_id, seat_no) VALUES (?, ?)", ((pair_id, seat_no) for seat_no in RE_OPENED_SEATS)
    )


def re_opened_in_use(db: Database, pair_id: PairId, lease_s: float, *, now: float) -> str | None:
    """Return the name of an annotator who has used one of the two seats added by re-opening a pair; None if nobody has.

    A seat is used if it has a grade, or if its holder has the pair's clip on screen. Pairs are reserved for `lease_s`
    seconds; a reservation from before the clock was set back by more is over.
    """
    row = db.conn.execute(
        "SELECT a.name FROM seat s JOIN annotator a USING (annotator_id) "
        "WHERE s.pair_id = :pair AND s.seat_no >= :first "
        "AND (s.lease_until IS NULL OR (s.shown_at IS NOT NULL AND s.lease_until >= :now "
        "AND s.lease_until <= :latest)) ORDER BY s.seat_no LIMIT 1",
        {"pair": pair_id, "first": min(RE_OPENED_SEATS), "now": now, "latest": now + 2 * lease_s},
    ).fetchone()
    return row[0] if row else None


def close_re_opened(db: Database, pair_id: PairId) -> None:
    """Remove the two seats that re-opening a pair added; call it only if `re_opened_in_use` returns None."""
    db.conn.execute("DELETE FROM seat WHERE pair_id = ? AND seat_no >= ?", [pair_id, min(RE_OPENED_SEATS)])


def graded(db: Database, me: AnnotatorId) -> int:
    """Count the pairs that this person has graded."""
    count: int = db.conn.execute(f"SELECT {GRADED}", {"me": me}).fetchone()[0]
    return count


def free_held(db: Database, pair_id: PairId) -> None:
    """Free all places at a pair that are reserved and not graded, because its right grade is about to become known."""
    for table, given_back in _GIVEN_BACK.items():
        db.conn.execute(f"UPDATE {table} SET {given_back} WHERE pair_id = ? AND lease_until IS NOT NULL", [pair_id])
