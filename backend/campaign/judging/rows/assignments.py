"""Read assignments, what keeps annotators from working, and the batch and pairs they may take.

Somebody without an assignment costs the desk one look at an index and no condition at all.
"""

from collections.abc import Iterable, Sequence
from sqlite3 import Row
from typing import NamedTuple

from backend.campaign.judging.model import Assignment
from backend.campaign.judging.rows.seats import FREE, GOLD_CLAIMABLE, GOLD_NEXT_BATCH, GOLD_SEAT_NO
from backend.campaign.nouns import FIRST_ROUND_SEATS, SECOND_ROUND_SEATS, Split
from backend.core.ids import AnnotatorId, BatchId, PairId, QueryId
from backend.store.engine import Database, added

_COLUMNS = "x.assignment_id, x.annotator_id, x.split, x.part, x.parts, x.chosen, x.a_day, x.in_all, x.given_at, g.name"
_STANDING = (
    f"SELECT {_COLUMNS} FROM assignment x JOIN annotator g ON g.annotator_id = x.given_by WHERE x.ended_at IS NULL"
)


def standing(db: Database, me: AnnotatorId) -> Assignment | None:
    """What this person is assigned to; None where they grade whatever there is."""
    row = db.conn.execute(f"{_STANDING} AND x.annotator_id = ?", [me]).fetchone()
    return _assignment(db, row) if row else None


def limits(db: Database, me: AnnotatorId) -> tuple[bool, bool]:
    """Whether a pause of this person stands, and whether an assignment does: one question, asked at every grade."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM pause WHERE annotator_id = :me AND ended_at IS NULL), "
        "EXISTS (SELECT 1 FROM assignment WHERE annotator_id = :me AND ended_at IS NULL)",
        {"me": me},
    ).fetchone()
    return bool(row[0]), bool(row[1])


def is_paused(db: Database, me: AnnotatorId) -> bool:
    """Whether a pause of this person stands."""
    return limits(db, me)[0]


def all_standing(db: Database) -> dict[AnnotatorId, Assignment]:
    """What everybody is assigned to who is to anything."""
    return {AnnotatorId(row[1]): _assignment(db, row) for row in db.conn.execute(_STANDING).fetchall()}


def condition(mine: Assignment | None, query: str) -> str:
    """What a row of `query` (an alias) fulfils that this person is assigned to, as ` AND ...`; nothing for everything.

    Its values are those of `values`.
    """
    if mine is None:
        return ""
    told = []
    if mine.split is not None:
        told.append(f"{query}.split = :split")
    if mine.parts is not None:
        told.append(f"{query}.position % :parts = :part % :parts")
    if mine.queries is not None:
        told.append(f"{query}.query_id IN (SELECT query_id FROM assigned_query WHERE assignment_id = :assignment)")
    return "".join(f" AND {one}" for one in told)


def values(mine: Assignment | None) -> dict[str, object]:
    """The values of `condition`."""
    if mine is None:
        return {}
    return {"split": mine.split, "part": mine.part, "parts": mine.parts, "assignment": mine.assignment_id}


def holds(db: Database, mine: Assignment | None, batch_id: BatchId) -> bool:
    """Whether a batch is of a query that this person is assigned to."""
    if mine is None or not mine.narrows:
        return True
    row = db.conn.execute(
        "SELECT 1 FROM batch b JOIN query q USING (query_id) WHERE b.batch_id = :batch" + condition(mine, "q"),
        {"batch": batch_id, **values(mine)},
    ).fetchone()
    return row is not None


def inside(db: Database, mine: Assignment | None, pairs: Sequence[PairId]) -> set[PairId]:
    """Those of some pairs whose query this person is assigned to."""
    if mine is None or not mine.narrows:
        return set(pairs)
    rows = db.conn.execute(
        "SELECT p.pair_id FROM pair p JOIN query q USING (query_id) "
        f"WHERE p.pair_id IN (SELECT value FROM json_each(:pairs)){condition(mine, 'q')}",
        {"pairs": str(list(pairs)), **values(mine)},
    )
    return {PairId(row[0]) for row in rows}


def queries_of(db: Database, mine: Assignment) -> list[QueryId]:
    """The queries that an assignment comes to, of those that have a batch; in judging order."""
    rows = db.conn.execute(
        "SELECT q.query_id FROM query q WHERE EXISTS (SELECT 1 FROM batch b WHERE b.query_id = q.query_id)"
        + condition(mine, "q")
        + " ORDER BY q.position",
        values(mine),
    )
    return [QueryId(row[0]) for row in rows]


def pairs_of(db: Database, mine: Assignment) -> int:
    """How many pairs the open batches of an assignment's queries have, whoever grades them."""
    row = db.conn.execute(
        "SELECT count(*) FROM pair p JOIN query q USING (query_id) WHERE p.batch_id IS NOT NULL" + condition(mine, "q"),
        values(mine),
    ).fetchone()
    return int(row[0])


def known(db: Database, queries: Iterable[QueryId]) -> set[QueryId]:
    """Those of these queries that the project has, for judging."""
    asked = list(queries)
    places = ", ".join("?" * len(asked))
    rows = db.conn.execute(f"SELECT query_id FROM query WHERE split <> 'train' AND query_id IN ({places})", asked)
    return {QueryId(row[0]) for row in rows}


def add(db: Database, me: AnnotatorId, given: Assignment, *, by: AnnotatorId) -> int:
    """A new assignment, of what `given` says but its number and who gave it; its number."""
    number = added(
        db,
        "INSERT INTO assignment (annotator_id, split, part, parts, chosen, a_day, in_all, given_at, given_by) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING assignment_id",
        [
            *(me, given.split, given.part, given.parts, given.queries is not None),
            *(given.a_day, given.in_all, given.at, by),
        ],
    )
    db.conn.executemany(
        "INSERT INTO assigned_query (assignment_id, query_id) VALUES (?, ?)",
        ((number, query_id) for query_id in given.queries or ()),
    )
    return number


def end(db: Database, me: AnnotatorId, *, by: AnnotatorId, at: float) -> bool:
    """End the assignment of this person that stands; whether one did."""
    cursor = db.conn.execute(
        "UPDATE assignment SET ended_at = ?, ended_by = ? WHERE annotator_id = ? AND ended_at IS NULL", [at, by, me]
    )
    return cursor.rowcount == 1


def last_act(db: Database, me: AnnotatorId) -> tuple[str, float, bool]:
    """(who, when, whether it gave one) of what was done last about the assignment of somebody who had one."""
    row = db.conn.execute(
        "SELECT coalesce(e.name, g.name), coalesce(x.ended_at, x.given_at), x.ended_at IS NULL FROM assignment x "
        "JOIN annotator g ON g.annotator_id = x.given_by LEFT JOIN annotator e ON e.annotator_id = x.ended_by "
        "WHERE x.annotator_id = ? ORDER BY x.assignment_id DESC LIMIT 1",
        [me],
    ).fetchone()
    return row[0], row[1], bool(row[2])


def _assignment(db: Database, row: Row) -> Assignment:
    queries = None
    if row["chosen"]:
        found = db.conn.execute(
            "SELECT query_id FROM assigned_query WHERE assignment_id = ? ORDER BY query_id", [row["assignment_id"]]
        )
        queries = tuple(QueryId(one[0]) for one in found)
    return Assignment(
        split=Split(row["split"]) if row["split"] else None,
        part=row["part"],
        parts=row["parts"],
        queries=queries,
        a_day=row["a_day"],
        in_all=row["in_all"],
        at=row["given_at"],
        by=row["name"],
        assignment_id=row["assignment_id"],
    )


# Pairs this person may sit down at: never twice at the same pair, none they skipped, no broken clip, none that an exam
# asks just now or that they answered in one.
_MINE_TO_TAKE = """
  NOT EXISTS (SELECT 1 FROM seat AS m WHERE m.pair_id = p.pair_id AND m.annotator_id = :me AND m.repeat = 0)
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = p.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
  AND NOT EXISTS (SELECT 1 FROM set_aside AS o WHERE o.pair_id = p.pair_id)
  AND NOT EXISTS (SELECT 1 FROM known_pair AS y WHERE y.pair_id = p.pair_id AND y.annotator_id = :me)
"""


# Batches with two others at first-round seats; few people sit anywhere, so this is small.
_CROWDED = f"""
  SELECT h.batch_id FROM seat AS l JOIN pair AS h USING (pair_id)
  WHERE l.lease_until >= :now AND l.seat_no <= {max(FIRST_ROUND_SEATS)} AND l.annotator_id <> :me
  GROUP BY h.batch_id HAVING count(DISTINCT l.annotator_id) >= 2
"""


# From each of the few pairs to its seats: PostgreSQL would rather look at all free seats there are.
_SEATS_TO_TAKE = f"""
  SELECT there.pair_id, there.seat_no FROM (
    SELECT p.pair_id, (SELECT min(s.seat_no) FROM seat s WHERE s.pair_id = p.pair_id AND {FREE}
      AND (s.seat_no >= :second OR NOT (:politely AND :batch IN ({_CROWDED})))) AS seat_no
    FROM pair p WHERE p.batch_id = :batch AND {_MINE_TO_TAKE}) AS there
  WHERE there.seat_no IS NOT NULL
"""


def claimable(
    db: Database,
    me: AnnotatorId,
    batch_id: BatchId,
    mine: Assignment | None = None,
    *,
    now: float,
    politely: bool = True,
) -> list[tuple[PairId, int]]:
    """Pairs of a batch at which this person may sit down now, each with its lowest free seat.

    Args:
        db: the database.
        me: the person.
        batch_id: the batch.
        mine: what this person is assigned to; of another batch they get gold alone.
        now: seconds since 1970.
        politely: only second-round seats while two others sit at first-round ones of the batch: two people finish a
            query together; a third would take pairs out of the middle of their work.
    """
    rows = db.conn.execute(
        _claimable(db, mine, batch_id),
        {"batch": batch_id, "me": me, "now": now, "politely": politely, "second": min(SECOND_ROUND_SEATS)},
    )
    return [(PairId(row[0]), row[1]) for row in rows]


def _claimable(db: Database, mine: Assignment | None, batch_id: BatchId) -> str:
    """What asks for (pair, lowest free seat) of `:batch`: gold, and the seats of a batch that this person may have."""
    return GOLD_CLAIMABLE + (f" UNION ALL {_SEATS_TO_TAKE}" if holds(db, mine, batch_id) else "")


def next_batch(
    db: Database, me: AnnotatorId, mine: Assignment | None = None, *, now: float
) -> tuple[BatchId, bool] | None:
    """The batch to work on next, of what this person is assigned to, and whether they take of it `politely`.

    That is the batch with a pair nearest to completion, then judging order. The agenda is walked in this order, and
    the walk ends at the first batch that has something for this person. Crowded batches have only second-round
    seats, unless nothing else is left.
    """
    anybody = db.conn.execute(f"SELECT EXISTS ({_CROWDED})", {"me": me, "now": now}).fetchone()[0]
    # Asked of the batch, before its pairs: an assignment makes the walk shorter, never longer.
    only = condition(mine, "q")
    inside = f"EXISTS (SELECT 1 FROM batch b JOIN query q USING (query_id) WHERE b.batch_id = a.batch_id{only})"
    gold = db.conn.execute(GOLD_NEXT_BATCH, {"me": me}).fetchone()
    for politely in (True, False) if anybody else (False,):
        row = db.conn.execute(
            "SELECT a.batch_id, -a.nearest, a.position FROM agenda a "
            f"WHERE {inside if only else 'TRUE'} "
            "AND EXISTS (SELECT 1 FROM pair p JOIN seat s USING (pair_id) WHERE p.batch_id = a.batch_id "
            f"  AND (s.seat_no >= :second OR NOT (:politely AND a.batch_id IN ({_CROWDED}))) "
            f"  AND {FREE} AND {_MINE_TO_TAKE}) "
            "ORDER BY a.nearest DESC, a.position, a.batch_id LIMIT 1",
            {"me": me, "now": now, "politely": politely, "second": min(SECOND_ROUND_SEATS), **values(mine)},
        ).fetchone()
        if gold and (row is None or (-GOLD_SEAT_NO, gold[1], gold[0]) < (row[1], row[2], row[0])):
            return BatchId(gold[0]), politely
        if row:
            return BatchId(row[0]), politely
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


def batch_progress(
    db: Database, me: AnnotatorId, batch_id: BatchId, mine: Assignment | None = None, *, now: float
) -> tuple[int, int]:
    """(graded by this person, all that this person grades) in one batch: the "7 of 20" of the screen."""
    # CROSS JOIN: from the few pairs of the batch to their seats, not from all seats this person ever had.
    graded, total = db.conn.execute(
        "SELECT coalesce(sum(one.graded), 0), count(*) FROM ("
        "SELECT s.lease_until IS NULL AS graded FROM pair p CROSS JOIN seat s USING (pair_id) "
        "WHERE p.batch_id = :batch AND s.annotator_id = :me AND s.repeat = 0 "
        "UNION ALL SELECT g.lease_until IS NULL FROM pair p CROSS JOIN gold_seat g USING (pair_id) "
        "WHERE p.batch_id = :batch AND g.annotator_id = :me AND g.claim_no IS NOT NULL "
        f"UNION ALL SELECT 0 FROM ({_claimable(db, mine, batch_id)})) AS one",
        {"batch": batch_id, "me": me, "now": now, "politely": True, "second": min(SECOND_ROUND_SEATS)},
    ).fetchone()
    return graded, total


def waiting_for(db: Database, me: AnnotatorId, mine: Assignment | None = None, *, now: float) -> int:
    """Pairs this person could still grade, were their seats not held by other people just now."""
    only = condition(mine, "q")
    with_query = "JOIN query q USING (query_id) " if only else ""
    row = db.conn.execute(
        f"SELECT count(DISTINCT p.pair_id) FROM seat s JOIN pair p USING (pair_id) {with_query}"
        f"WHERE s.lease_until >= :now AND s.annotator_id <> :me AND s.closed = 0 AND {_MINE_TO_TAKE}{only}",
        {"me": me, "now": now, **values(mine)},
    ).fetchone()
    return int(row[0])


class DeskGate(NamedTuple):
    """What may keep an annotator from work: a pause, a version of the guideline, an exam or a calibration round.

    `seen` is the newest version of the guideline that they were shown, None if they are new; `version` is in force.
    """

    paused: bool
    seen: int | None
    version: int
    tutorial: bool
    exam: bool


def gate(db: Database, me: AnnotatorId) -> DeskGate:
    """Return what may keep an annotator from work: one question, asked at every key press."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM pause WHERE annotator_id = :me AND ended_at IS NULL), "
        "(SELECT max(version) FROM guideline_seen WHERE annotator_id = :me), "
        "(SELECT max(version) FROM guideline_version), tutorial, "
        "EXISTS (SELECT 1 FROM exam WHERE ended_at IS NULL) FROM campaign",
        {"me": me},
    ).fetchone()
    return DeskGate(bool(row[0]), row[1], row[2], bool(row[3]), bool(row[4]))


def is_exam_held(db: Database) -> bool:
    """Return whether an exam or a calibration round is held."""
    return bool(db.conn.execute("SELECT EXISTS (SELECT 1 FROM exam WHERE ended_at IS NULL)").fetchone()[0])


def window_at_desk(db: Database, person: AnnotatorId) -> str | None:
    """Return the window that took a person's desk last."""
    row = db.conn.execute("SELECT window_key FROM desk_window WHERE annotator_id = ?", [person]).fetchone()
    return str(row["window_key"]) if row else None


def take_desk(db: Database, person: AnnotatorId, window: str, *, at: float) -> None:
    """Let a window have a person's desk from now on."""
    db.conn.execute(
        "INSERT INTO desk_window (annotator_id, window_key, taken_at) VALUES (?, ?, ?) ON CONFLICT (annotator_id) "
        "DO UPDATE SET window_key = excluded.window_key, taken_at = excluded.taken_at",
        [person, window, at],
    )
