"""Run the SQL for assignments, for what may keep an annotator from grading, and for choosing the next pairs.

An assignment limits an annotator to some queries or numbers of grades. For an annotator without one, the SQL needs one
look-up in an index and no further condition. Pairs are chosen from batches, groups of pairs of one query.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from backend.campaign.judging.model import Assignment
from backend.campaign.judging.rows.seats import FREE, GOLD_CLAIMABLE, GOLD_NEXT_BATCH, GOLD_SEAT_NO
from backend.campaign.nouns import FIRST_ROUND_SEATS, SECOND_ROUND_SEATS, Split
from backend.core.ids import AnnotatorId, BatchId, PairId, QueryId
from backend.store.engine import Database, Select, fetch_one, insert_returning_id

_COLUMNS = (
    "x.assignment_id, x.annotator_id, x.split, x.part, x.parts, x.chosen, x.a_day, x.in_all, x.given_at, g.name, "
    "(SELECT group_concat(c.query_id) FROM assigned_query AS c WHERE c.assignment_id = x.assignment_id) AS queries"
)
_STANDING = (
    f"SELECT {_COLUMNS} FROM assignment x JOIN annotator g ON g.annotator_id = x.given_by WHERE x.ended_at IS NULL"
)


def current_assignment(db: Database, me: AnnotatorId) -> Assignment | None:
    """Return the current assignment (queries to grade, and quotas) of an annotator; None if they may grade any pair."""
    return fetch_one(db, assignment_select(me))


def assignment_select(me: AnnotatorId) -> Select[Assignment | None]:
    """Select the current assignment of an annotator; None if they may grade any pair."""
    sql = f"{_STANDING} AND x.annotator_id = :me"
    return Select(sql, {"me": me}, lambda rows: _assignment(rows[0]) if rows else None)


def is_paused(db: Database, me: AnnotatorId) -> bool:
    """Return whether this annotator is paused, so that they get no pairs."""
    return fetch_one(db, pause_select(me))


def pause_select(me: AnnotatorId) -> Select[bool]:
    """Select whether this annotator is paused, so that they get no pairs."""
    return Select(
        "SELECT EXISTS (SELECT 1 FROM pause WHERE annotator_id = :me AND ended_at IS NULL) AS paused",
        {"me": me},
        lambda rows: bool(rows[0][0]),
    )


def all_current_assignments(db: Database) -> dict[AnnotatorId, Assignment]:
    """Return the current assignment of every annotator who has one."""
    return {AnnotatorId(row[1]): _assignment(row) for row in db.conn.execute(_STANDING).fetchall()}


def query_condition(assignment: Assignment | None, query: str) -> str:
    """Return SQL text, such as ` AND q.split = :split`, that keeps only the queries of an assignment.

    It is empty if the assignment includes all queries. `query` is the alias of the table of queries. `condition_values`
    returns the values for the placeholders.
    """
    if assignment is None:
        return ""
    conditions = []
    if assignment.split is not None:
        conditions.append(f"{query}.split = :split")
    if assignment.parts is not None:
        conditions.append(f"{query}.position % :parts = :part % :parts")
    if assignment.queries is not None:
        conditions.append(
            f"{query}.query_id IN (SELECT query_id FROM assigned_query WHERE assignment_id = :assignment)"
        )
    return "".join(f" AND {condition}" for condition in conditions)


def condition_values(assignment: Assignment | None) -> dict[str, object]:
    """Return the values for the placeholders in the SQL that `query_condition` returns."""
    if assignment is None:
        return {}
    values = {
        "split": assignment.split,
        "part": assignment.part,
        "parts": assignment.parts,
        "assignment": assignment.assignment_id,
    }
    return {name: value for name, value in values.items() if value is not None}


_WITHIN = "SELECT 1 FROM batch b JOIN query q USING (query_id) WHERE b.batch_id = {batch}{only}"
"""SQL for a row if the query of a batch meets the condition `only`."""


def includes_batch(db: Database, assignment: Assignment | None, batch_id: BatchId) -> bool:
    """Return whether an assignment includes the query of a batch, a group of pairs of one query.

    True without an assignment.
    """
    return fetch_one(db, includes_select(assignment, batch_id))


def includes_select(assignment: Assignment | None, batch_id: BatchId) -> Select[bool]:
    """Select whether an assignment includes the query of a batch; True without an assignment."""
    only = query_condition(assignment, "q")
    return Select(
        f"SELECT EXISTS ({_WITHIN.format(batch=':batch', only=only)}) AS within" if only else "SELECT 1 AS within",
        {"batch": batch_id, **condition_values(assignment)},
        lambda rows: bool(rows[0][0]),
    )


def pairs_within(db: Database, assignment: Assignment | None, pairs: Sequence[PairId]) -> set[PairId]:
    """Return those of the given pairs whose queries an assignment includes; all of them without an assignment."""
    if assignment is None or not assignment.narrows:
        return set(pairs)
    rows = db.conn.execute(
        "SELECT p.pair_id FROM pair p JOIN query q USING (query_id) "
        f"WHERE p.pair_id IN (SELECT value FROM json_each(:pairs)){query_condition(assignment, 'q')}",
        {"pairs": str(list(pairs)), **condition_values(assignment)},
    )
    return {PairId(row[0]) for row in rows}


def queries_of(db: Database, assignment: Assignment) -> list[QueryId]:
    """Return the queries of an assignment that have pairs to grade, in the order in which queries are graded.

    Pairs to grade are those in a batch, a group of pairs handed out together.
    """
    rows = db.conn.execute(
        "SELECT q.query_id FROM query q WHERE EXISTS (SELECT 1 FROM batch b WHERE b.query_id = q.query_id)"
        + query_condition(assignment, "q")
        + " ORDER BY q.position",
        condition_values(assignment),
    )
    return [QueryId(row[0]) for row in rows]


def pairs_of(db: Database, assignment: Assignment) -> int:
    """Count the pairs of an assignment's queries that are open for grading, whether graded already or not."""
    row = db.conn.execute(
        "SELECT count(*) FROM pair p JOIN query q USING (query_id) WHERE p.batch_id IS NOT NULL"
        + query_condition(assignment, "q"),
        condition_values(assignment),
    ).fetchone()
    return int(row[0])


def existing_queries(db: Database, queries: Iterable[QueryId]) -> set[QueryId]:
    """Return the queries, out of those given, that exist in the project and are graded (training queries are not)."""
    query_ids = list(queries)
    places = ", ".join("?" * len(query_ids))
    rows = db.conn.execute(f"SELECT query_id FROM query WHERE split <> 'train' AND query_id IN ({places})", query_ids)
    return {QueryId(row[0]) for row in rows}


def add(db: Database, me: AnnotatorId, assignment: Assignment, *, by: AnnotatorId) -> int:
    """Store a new assignment of annotator `me`, given by the lead `by`; return its number.

    An assignment is the queries that the annotator may grade, and quotas. Its fields `assignment_id` and `by` are
    ignored.
    """
    number = insert_returning_id(
        db,
        "INSERT INTO assignment (annotator_id, split, part, parts, chosen, a_day, in_all, given_at, given_by) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING assignment_id",
        [
            *(me, assignment.split, assignment.part, assignment.parts, assignment.queries is not None),
            *(assignment.a_day, assignment.in_all, assignment.at, by),
        ],
    )
    db.conn.executemany(
        "INSERT INTO assigned_query (assignment_id, query_id) VALUES (?, ?)",
        ((number, query_id) for query_id in assignment.queries or ()),
    )
    return number


def end(db: Database, me: AnnotatorId, *, by: AnnotatorId, at: float) -> bool:
    """End the current assignment of an annotator; return whether there was one."""
    cursor = db.conn.execute(
        "UPDATE assignment SET ended_at = ?, ended_by = ? WHERE annotator_id = ? AND ended_at IS NULL", [at, by, me]
    )
    return cursor.rowcount == 1


def last_act(db: Database, me: AnnotatorId) -> tuple[str, float, bool]:
    """Return (name of the lead, time in seconds since 1970, True) if an annotator's last assignment is in force.

    If it was ended, return who ended it, when, and False. The annotator must have had an assignment.
    """
    row = db.conn.execute(
        "SELECT coalesce(e.name, g.name), coalesce(x.ended_at, x.given_at), x.ended_at IS NULL FROM assignment x "
        "JOIN annotator g ON g.annotator_id = x.given_by LEFT JOIN annotator e ON e.annotator_id = x.ended_by "
        "WHERE x.annotator_id = ? ORDER BY x.assignment_id DESC LIMIT 1",
        [me],
    ).fetchone()
    return row[0], row[1], bool(row[2])


def _assignment(row: Sequence[Any]) -> Assignment:
    number, _, split, part, parts, chosen, a_day, in_all, at, by, queries = row
    return Assignment(
        split=Split(split) if split else None,
        part=part,
        parts=parts,
        queries=tuple(QueryId(query) for query in sorted(map(int, (queries or "").split(",")))) if chosen else None,
        a_day=a_day,
        in_all=in_all,
        at=at,
        by=by,
        assignment_id=number,
    )


# Pairs that this person may take: no pair twice, none that they skipped, no broken clip, none that an exam reserves now
# or that they answered in one.
_MINE_TO_TAKE = """
  NOT EXISTS (SELECT 1 FROM seat AS m WHERE m.pair_id = p.pair_id AND m.annotator_id = :me AND m.repeat = 0)
  AND NOT EXISTS (SELECT 1 FROM skip AS k WHERE k.pair_id = p.pair_id AND k.annotator_id = :me AND k.lifted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM clip_fault AS f WHERE f.moment_id = p.moment_id)
  AND NOT EXISTS (SELECT 1 FROM set_aside AS o WHERE o.pair_id = p.pair_id)
  AND NOT EXISTS (SELECT 1 FROM known_pair AS y WHERE y.pair_id = p.pair_id AND y.annotator_id = :me)"""


_HELD_BY_OTHERS = f"l.lease_until >= :now AND l.seat_no <= {max(FIRST_ROUND_SEATS)} AND l.annotator_id <> :me"
# Batches in which two others hold first-round seats. It reads all seats that anybody holds.
_CROWDED = f"""
  SELECT h.batch_id FROM seat AS l JOIN pair AS h USING (pair_id) WHERE {_HELD_BY_OTHERS}
  GROUP BY h.batch_id HAVING count(DISTINCT l.annotator_id) >= 2
"""
_BATCHES = 8
"""The most batches that one SELECT reads: a person holds 7 pairs, and graded one before. It tells PostgreSQL that there
are few, so that it goes from each to its seats."""
# All seats of some batches, read once: every grade asks for them. Without MATERIALIZED, PostgreSQL would read them
# again for each condition, or read all seats that the person ever had.
_THERE = f"""
  there AS MATERIALIZED (SELECT p.batch_id, s.pair_id, p.moment_id, s.seat_no, s.annotator_id, s.lease_until, s.closed,
    s.repeat FROM pair p CROSS JOIN seat s USING (pair_id)
    WHERE p.batch_id IN (SELECT value FROM json_each(:batches) LIMIT {_BATCHES})),
  crowded AS MATERIALIZED (SELECT l.batch_id FROM there AS l WHERE {_HELD_BY_OTHERS}
    GROUP BY l.batch_id HAVING count(DISTINCT l.annotator_id) >= 2)
"""
_SEATS_TO_TAKE = f"""
  SELECT p.pair_id, min(p.seat_no) AS seat_no, p.batch_id FROM there AS p
  WHERE {FREE.replace("s.", "p.")}
  AND (p.seat_no >= :second OR NOT (:politely AND p.batch_id IN (SELECT batch_id FROM crowded)))
  AND {_MINE_TO_TAKE.replace("FROM seat AS m", "FROM there AS m")}{{within}}
  GROUP BY p.pair_id, p.batch_id
"""


def claimable(
    db: Database,
    me: AnnotatorId,
    batch_id: BatchId,
    assignment: Assignment | None = None,
    *,
    now: float,
    politely: bool = True,
) -> list[tuple[PairId, int]]:
    """Return the pairs of a batch that an annotator may take now, each with its lowest free seat.

    A batch is a group of pairs of one query.

    A seat is a place for one annotator at a pair, numbered from 1. Seats 1 and 2 are the first round; seats 3 and 4,
    the second round, exist if the first two grades disagree.

    Args:
        db: the database.
        me: the annotator.
        batch_id: the batch.
        assignment: the annotator's assignment. In a batch outside it they get only gold questions (hidden pairs with
            known grades).
        now: seconds since 1970.
        politely: while two others hold first-round seats in the batch, return only later seats. So these two can grade
            all pairs of the query, and no third person takes some of them.
    """
    return fetch_one(db, claimable_select(me, batch_id, assignment, now=now, politely=politely))


def claimable_select(
    me: AnnotatorId,
    batch_id: BatchId,
    assignment: Assignment | None = None,
    *,
    now: float,
    politely: bool = True,
) -> Select[list[tuple[PairId, int]]]:
    """Select the pairs of a batch that an annotator may take now; see `claimable`."""
    return Select(
        f"WITH {_THERE} {_claimable(assignment)}",
        _there_values([batch_id], me, assignment, now=now, politely=politely),
        lambda rows: [(PairId(row[0]), row[1]) for row in rows],
    )


def _there_values(
    batches: Iterable[BatchId], me: AnnotatorId, assignment: Assignment | None, *, now: float, politely: bool = True
) -> dict[str, object]:
    """Return the values for the placeholders in `_THERE` and `_claimable`."""
    values = {"batches": str([*batches]), "me": me, "now": now, "politely": politely, "second": min(SECOND_ROUND_SEATS)}
    return values | condition_values(assignment)


def _claimable(assignment: Assignment | None) -> str:
    """Return the SQL that finds (pair, lowest free seat, batch) of the pairs of batches that an annotator may take.

    It reads the seats of the batches from `_THERE`.

    These are the annotator's gold questions (hidden pairs with known grades). All other pairs of the batch are found
    too if the assignment includes it.
    """
    only = query_condition(assignment, "q")
    within = f" AND EXISTS ({_WITHIN.format(batch='p.batch_id', only=only)})" if only else ""
    return f"{GOLD_CLAIMABLE} UNION ALL {_SEATS_TO_TAKE.format(within=within)}"


def next_batch(
    db: Database, me: AnnotatorId, assignment: Assignment | None = None, *, now: float
) -> tuple[BatchId, bool] | None:
    """Return the batch (group of a query's pairs) from which this annotator takes pairs next; None if there is none.

    The result is (batch, `politely`), for the function `claimable`. If `politely` is True, the first and second grades
    in a batch are left to two others who are already grading there. It is False if there would be nothing else to take.

    Batches with a pair that needs only its last grade come first, then batches in the order in which queries are
    graded. Only batches with a pair for this annotator count.
    """
    # Tests the batch before its pairs: an assignment makes the walk shorter, never longer.
    only = query_condition(assignment, "q")
    inside = f"EXISTS (SELECT 1 FROM batch b JOIN query q USING (query_id) WHERE b.batch_id = a.batch_id{only})"
    left_to_others = "(:politely AND a.batch_id IN (SELECT batch_id FROM crowded))"
    gold = db.conn.execute(GOLD_NEXT_BATCH, {"me": me}).fetchone()
    for politely in (True, False):
        if not politely and not db.conn.execute(f"SELECT EXISTS ({_CROWDED})", {"me": me, "now": now}).fetchone()[0]:
            return None
        row = db.conn.execute(
            f"WITH crowded AS MATERIALIZED ({_CROWDED}) SELECT a.batch_id, -a.nearest, a.position FROM agenda a "
            f"WHERE {inside if only else 'TRUE'} "
            # Most crowded batches have nothing but first-round seats, and there are many where many people work.
            f"AND (a.nearest >= :second OR NOT {left_to_others}) "
            "AND EXISTS (SELECT 1 FROM pair p JOIN seat s USING (pair_id) WHERE p.batch_id = a.batch_id "
            f"  AND (s.seat_no >= :second OR NOT {left_to_others}) "
            f"  AND {FREE} AND {_MINE_TO_TAKE}) "
            "ORDER BY a.nearest DESC, a.position, a.batch_id LIMIT 1",
            {
                "me": me,
                "now": now,
                "politely": politely,
                "second": min(SECOND_ROUND_SEATS),
                **condition_values(assignment),
            },
        ).fetchone()
        if gold and (row is None or (-GOLD_SEAT_NO, gold[1], gold[0]) < (row[1], row[2], row[0])):
            return BatchId(gold[0]), politely
        if row:
            return BatchId(row[0]), politely
    return None


def progress_select(
    me: AnnotatorId, batches: Iterable[BatchId], assignment: Assignment | None = None, *, now: float
) -> Select[dict[BatchId, tuple[int, int]]]:
    """Select an annotator's progress by batch: (pairs graded, pairs in all), which the page shows as "7 of 20".

    The second number counts pairs that they graded, have now, or could take now. Batches without such a pair are left
    out. At most `_BATCHES` (8) batches are read.
    """
    return Select(
        f"WITH {_THERE} SELECT one.batch_id, sum(one.graded) AS graded, count(*) AS total FROM ("
        "SELECT s.batch_id, s.lease_until IS NULL AS graded FROM there AS s "
        "WHERE s.annotator_id = :me AND s.repeat = 0 "
        # CROSS JOIN: from the few gold questions that this person ever had, never from all pairs.
        "UNION ALL SELECT p.batch_id, g.lease_until IS NULL FROM gold_seat g CROSS JOIN pair p USING (pair_id) "
        f"WHERE p.batch_id IN (SELECT value FROM json_each(:batches) LIMIT {_BATCHES}) AND g.annotator_id = :me "
        "AND g.claim_no IS NOT NULL "
        f"UNION ALL SELECT more.batch_id, 0 FROM ({_claimable(assignment)}) AS more) AS one GROUP BY one.batch_id",
        _there_values(batches, me, assignment, now=now),
        lambda rows: {BatchId(row[0]): (int(row[1]), row[2]) for row in rows},
    )


def waiting_for(db: Database, me: AnnotatorId, assignment: Assignment | None = None, *, now: float) -> int:
    """Count the pairs that others hold now, and that this annotator may grade if they become free."""
    only = query_condition(assignment, "q")
    with_query = "JOIN query q USING (query_id) " if only else ""
    row = db.conn.execute(
        f"SELECT count(DISTINCT p.pair_id) FROM seat s JOIN pair p USING (pair_id) {with_query}"
        f"WHERE s.lease_until >= :now AND s.annotator_id <> :me AND s.closed = 0 AND {_MINE_TO_TAKE}{only}",
        {"me": me, "now": now, **condition_values(assignment)},
    ).fetchone()
    return int(row[0])


class DeskGate(NamedTuple):
    """What may keep an annotator from grading: a pause, an unread guideline, an exam or a calibration round.

    Attributes:
        paused: whether the annotator is paused.
        seen: the newest version of the guideline that they were shown; None if they have seen none.
        version: the current version of the guideline.
        tutorial: whether new annotators have to go through the guideline as a tutorial.
        exam: whether an exam or a calibration round (everybody grades the same few pairs) is in progress.
    """

    paused: bool
    seen: int | None
    version: int
    tutorial: bool
    exam: bool


def gate(db: Database, me: AnnotatorId) -> DeskGate:
    """Return what may keep an annotator from grading."""
    return fetch_one(db, gate_select(me))


def gate_select(me: AnnotatorId) -> Select[DeskGate]:
    """Select what may keep an annotator from grading."""
    return Select(
        "SELECT EXISTS (SELECT 1 FROM pause WHERE annotator_id = :me AND ended_at IS NULL) AS paused, "
        "(SELECT max(version) FROM guideline_seen WHERE annotator_id = :me) AS seen, "
        "(SELECT max(version) FROM guideline_version) AS version, tutorial, "
        "EXISTS (SELECT 1 FROM exam WHERE ended_at IS NULL) AS exam FROM campaign",
        {"me": me},
        lambda rows: DeskGate(bool(rows[0][0]), rows[0][1], rows[0][2], bool(rows[0][3]), bool(rows[0][4])),
    )


def exam_select() -> Select[bool]:
    """Select whether an exam or a calibration round (everybody grades the same few pairs) is in progress."""
    sql = "SELECT EXISTS (SELECT 1 FROM exam WHERE ended_at IS NULL) AS held"
    return Select(sql, {}, lambda rows: bool(rows[0][0]))


def window_select(person: AnnotatorId) -> Select[str | None]:
    """Select the key of the browser window in which a person last started to grade; None if there was none."""
    sql = "SELECT window_key FROM desk_window WHERE annotator_id = :me"
    return Select(sql, {"me": person}, lambda rows: str(rows[0][0]) if rows else None)


def take_desk(db: Database, person: AnnotatorId, window: str, *, at: float) -> None:
    """Store the key of the browser window in which a person grades from now on, instead of an earlier one."""
    db.conn.execute(
        "INSERT INTO desk_window (annotator_id, window_key, taken_at) VALUES (?, ?, ?) ON CONFLICT (annotator_id) "
        "DO UPDATE SET window_key = excluded.window_key, taken_at = excluded.taken_at",
        [person, window, at],
    )
