"""SQL that copies the rows of a part out of a project into a new database."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from backend.campaign.nouns import Split
from backend.campaign.parts.model import TABLES, WORK, PartOfSplit
from backend.campaign.parts.rows.keys import columns, in_order, own_id
from backend.campaign.setup.project.model import PROJECT_SPLIT
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId, QueryId
from backend.core.messages import said, said_n
from backend.store.engine import Database


def begun(db: Database, *, now: float) -> list[str]:
    """Return, in words, what people have done on pairs of a project, or have on their desks; empty if nothing."""
    work = [words for table, words in WORK.items() if db.conn.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()]
    held = db.conn.execute("SELECT count(*) FROM seat WHERE lease_until > ?", [now]).fetchone()[0]
    return work + ([said_n("{n} pair on desks", "{n:,} pairs on desks", held)] if held else [])


def judged_queries(db: Database) -> list[tuple[QueryId, Split]]:
    """Return the validation and test queries in the order in which they are handed out."""
    rows = db.conn.execute("SELECT query_id, split FROM query WHERE split <> 'train' ORDER BY position, query_id")
    return [(QueryId(row[0]), Split(row[1])) for row in rows]


def pair_numbers(db: Database) -> tuple[int, int]:
    """Return the number of pairs, and the largest id of one; 0 if there is none."""
    row = db.conn.execute("SELECT count(*), coalesce(max(pair_id), 0) FROM pair").fetchone()
    return row[0], row[1]


def part_of(db: Database) -> PartOfSplit | None:
    """Return which part a project is; None if `split` did not make it."""
    row = db.conn.execute("SELECT payload FROM event WHERE kind = ? LIMIT 1", [PROJECT_SPLIT.kind]).fetchone()
    if row is None:
        return None
    payload = msgspec.json.decode(row[0])
    return PartOfSplit(payload["split"], payload["part"], payload["parts"], payload["last"])


def last_ids(db: Database) -> dict[str, int]:
    """Return the largest id of each table whose rows have ids that `join` may have to change; 0 for an empty table."""
    return {
        table: db.conn.execute(f"SELECT coalesce(max({key}), 0) FROM {table}").fetchone()[0]
        for table in TABLES
        if (key := own_id(db.conn, table))
    }


def holders(db: Database) -> list[AnnotatorId]:
    """Return the annotators who have pairs on their desks."""
    rows = db.conn.execute(
        "SELECT annotator_id FROM seat WHERE lease_until IS NOT NULL "
        "UNION SELECT annotator_id FROM gold_seat WHERE lease_until IS NOT NULL"
    )
    return [AnnotatorId(row[0]) for row in rows]


@contextmanager
def filling(db: Database) -> Iterator[None]:
    """Empty a new database, and let rows be inserted in any order; check the foreign keys at the end.

    Raises:
        ProjectError: rows exclude each other, or refer to rows that do not exist. Then the database is as before.
    """
    triggers = db.conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    db.conn.execute("PRAGMA foreign_keys = OFF")
    try:
        db.conn.execute("BEGIN")
        for name, _ in triggers:
            db.conn.execute(f"DROP TRIGGER {name}")
        for table in TABLES:
            db.conn.execute(f'DELETE FROM "{table}"')
        yield
        for _, statement in triggers:
            db.conn.execute(statement)
        if broken := db.conn.execute("PRAGMA foreign_key_check").fetchone():
            raise _inconsistent(f"{broken[0]} refers to a missing row of {broken[2]}")
        db.conn.execute("COMMIT")
    except BaseException as error:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        if isinstance(error, sqlite3.IntegrityError):
            raise _inconsistent(str(error)) from error
        raise
    finally:
        db.conn.execute("PRAGMA foreign_keys = ON")


def _inconsistent(what: str) -> ProjectError:
    return ProjectError(said("the rows do not fit together ({what}): run `reelrank doctor` on each project", what=what))


@contextmanager
def attached(db: Database, file: Path) -> Iterator[None]:
    """Let SQL of the `with` block read the database in `file` as `source`."""
    db.conn.execute("ATTACH ? AS source", [str(file)])
    try:
        yield
    finally:
        db.conn.execute("DETACH source")


def copy_part(db: Database, queries: Sequence[QueryId]) -> None:
    """Copy the rows that a part with these queries has from the attached database into this new one.

    Call it inside `filling`.
    """
    db.conn.execute("CREATE TEMP TABLE own (query_id INTEGER PRIMARY KEY)")
    db.conn.executemany("INSERT INTO own VALUES (?)", ([query] for query in queries))
    for name in in_order(db.conn):
        table = TABLES[name]
        if table.in_parts:
            listed = ", ".join(columns(db.conn, name))
            db.conn.execute(f'INSERT INTO "{name}" ({listed}) SELECT {listed} FROM source."{name}" WHERE {table.owned}')
