"""Databases of an earlier level of the schema, with rows, and the way from there to the present one."""

import sqlite3
from contextlib import closing
from pathlib import Path

from backend.store.engine import SqliteDatabase
from backend.store.schema import migrations

Contents = dict[str, list[tuple[object, ...]]]


def make(folder: Path, before: str, statements: str) -> Path:
    """Make a database as it was before a migration, with these rows."""
    file = folder / "reelrank.db"
    with closing(sqlite3.connect(file)) as conn:
        migrations.apply(SqliteDatabase(conn), stop_before=before)
        for statement in statements.strip().split(";\n"):
            conn.execute(statement)
        conn.commit()
    return file


def rows(file: Path, sql: str) -> list[tuple[object, ...]]:
    """Read a database, or change it as far as its rules let anybody."""
    with closing(sqlite3.connect(file)) as conn:
        conn.execute("PRAGMA foreign_keys = 1")
        found = conn.execute(sql).fetchall()
        conn.commit()
    return found


def columns(file: Path, tables: tuple[str, ...]) -> dict[str, str]:
    """Return the columns of tables, as a query names them."""
    return {table: ", ".join(str(row[1]) for row in rows(file, f"PRAGMA table_info({table})")) for table in tables}


def contents(file: Path, names: dict[str, str]) -> Contents:
    """Return the rows of tables in these columns."""
    return {table: rows(file, f"SELECT {found} FROM {table} ORDER BY {found}") for table, found in names.items()}


def migrate(file: Path, *, cut_off: str = "") -> None:
    """Bring a database to the present level, after one try at a migration that was cut off at its end."""
    with closing(sqlite3.connect(file)) as conn:
        db = SqliteDatabase(conn)
        if cut_off:
            next(one for one in migrations._migrations if one.name == cut_off).fn(db)
        migrations.apply(db)
