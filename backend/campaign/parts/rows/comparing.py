"""SQL that gathers the rows of several parts, and compares what must be equal in them."""

from backend.campaign.parts.model import TABLES, Joining
from backend.campaign.parts.rows.keys import columns
from backend.core.ids import QueryId
from backend.core.typed_text import name_key
from backend.store.engine import Database
from backend.store.sqlite import SqliteStore


def compare_names(store: SqliteStore) -> None:
    """Let SQL in this thread compare names as signing in does, by `name_key`."""
    store.db.conn.create_function("name_key", 1, name_key, deterministic=True)


def stage(db: Database, part: int) -> None:
    """Add the rows of the attached database to those that will be joined, as those of the part with this number."""
    for name, table in TABLES.items():
        if table.joining is Joining.LEFT_OUT:
            continue
        listed = ", ".join(columns(db.conn, name))
        if part == 1:
            db.conn.execute(
                f'CREATE TEMP TABLE staged_{name} AS SELECT 0 AS _part, {listed} FROM main."{name}" WHERE 0'
            )
        db.conn.execute(f'INSERT INTO staged_{name} SELECT {part}, {listed} FROM source."{name}"')


def different_rule(db: Database, name: str, part: int) -> bool:
    """Return whether the rows of a table of kind `RULE` in a part are others than those of part 1."""
    return _differ(db, f"SELECT {', '.join(TABLES[name].equal)} FROM staged_{name} WHERE _part =", part)


def different_training(db: Database, part: int) -> bool:
    """Return whether the training queries of a part are others than those of part 1."""
    return _differ(db, "SELECT query_id, text FROM staged_query WHERE split = 'train' AND _part =", part)


def _differ(db: Database, rows: str, part: int) -> bool:
    one, other = f"{rows} 1", f"{rows} {part}"
    return any(
        db.conn.execute(f"{left} EXCEPT {right} LIMIT 1").fetchone() for left, right in ((one, other), (other, one))
    )


def terms(db: Database, part: int) -> tuple[str, str]:
    """Return the licence and the citation in force in a part; "" if none was set."""
    row = db.conn.execute(
        "SELECT licence, citation FROM staged_terms WHERE _part = ? ORDER BY terms_id DESC LIMIT 1", [part]
    ).fetchone()
    return (row[0], row[1]) if row else ("", "")


def overlaps(db: Database) -> list[tuple[int, int, QueryId, str]]:
    """Return (part, other part, query, text) for each judged query whose number or text two parts have."""
    rows = db.conn.execute(
        "SELECT a._part, b._part, a.query_id, a.text FROM staged_query a JOIN staged_query b "
        "ON b._part > a._part AND (a.query_id = b.query_id OR a.text = b.text) "
        "WHERE a.split <> 'train' AND b.split <> 'train' ORDER BY 1, 2, 3"
    )
    return [(row[0], row[1], QueryId(row[2]), row[3]) for row in rows]


def held_exams(db: Database) -> list[tuple[str, list[int]]]:
    """Return (`exam` or `trial`, the parts that hold one now) for each that several parts hold."""
    held: dict[str, list[int]] = {}
    for purpose, part in db.conn.execute("SELECT purpose, _part FROM staged_exam WHERE ended_at IS NULL ORDER BY 1, 2"):
        held.setdefault(purpose, []).append(part)
    return [(purpose, parts) for purpose, parts in held.items() if len(parts) > 1]


def checks_pools(db: Database) -> bool:
    """Return whether the attached database has a check of pools."""
    return db.conn.execute("SELECT 1 FROM source.pool_check").fetchone() is not None


def other_passwords(db: Database) -> list[str]:
    """Return the names of the users who have different passwords in different parts."""
    rows = db.conn.execute(
        "SELECT min(name) FROM staged_annotator WHERE password_hash IS NOT NULL GROUP BY name_key(name) "
        "HAVING count(DISTINCT password_hash) > 1 ORDER BY 1"
    )
    return [row[0] for row in rows]
