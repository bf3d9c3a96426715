"""What people are assigned to: reads, writes, and the condition that the desk puts on a batch.

Somebody without an assignment costs the desk one look at an index and no condition at all.
"""

from collections.abc import Iterable, Sequence
from sqlite3 import Row

from backend.campaign.judging.model import Assignment
from backend.campaign.nouns import Split
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
