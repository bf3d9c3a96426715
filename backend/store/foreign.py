"""Refuse a database that contains objects which no migration created and which act by themselves.

A trigger changes what is written, a view or a generated column what is read, a virtual table runs code of an extension;
whoever opens a stranger's project would never see it. What is merely missing, or an index more, the doctor tells.
SQLite's own guard, `trusted_schema`, would refuse our tables too: the `json_valid` of their checks is not safe to it.
"""

import hashlib
import re
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.typed_text import has_nul_escape
from backend.store.engine import SqliteDatabase
from backend.store.schema import DIGESTS, migrations

Thing = tuple[str, str, str]
"""(type, name, SQL) of one thing in a database."""

_SQLITES_OWN = re.compile(r"table sqlite_(sequence|stat[14])|index sqlite_autoindex_.*", re.DOTALL)
"""Other names that begin so are somebody's who hides."""
_NOTED = "_sqlite_migrations"
_SHOWN = 5
_COMPUTED = (2, 3)
"""What SQLite calls hidden of a column that is computed."""


def things(connection: sqlite3.Connection) -> set[Thing]:
    """Everything in a database but SQLite's own."""
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(row[0], row[1], row[2]) for row in rows if not _SQLITES_OWN.fullmatch(f"{row[0]} {row[1]}")}


def digest(found: Collection[Thing]) -> str:
    """A name for a schema, in hex."""
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def require_known(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse triggers, views, computed columns and virtual tables that are not ours; nothing is run to find them.

    Args:
        connection: to the database, of any schema that this code knows.
        path: what to call it.

    Raises:
        ProjectError: it has some.
    """
    found = things(connection)
    noted = next((kind for kind, name, _ in found if name == _NOTED), None)
    if noted is None:
        return  # no database of ours: whoever asked says so
    if noted == "table":
        names = {row[0] for row in connection.execute(f"SELECT name FROM {_NOTED} WHERE migration_set = 'reelrank'")}
        newest = max(names & {one.name for one in migrations._migrations}, default="")
        if DIGESTS.get(newest) == digest(found):
            return
        ours = at(newest) if newest else frozenset()
    else:
        ours = frozenset()
    if foreign := [" ".join(one[:2]) for one in sorted(found - ours) if _acts(connection, one)]:
        listed = ", ".join(foreign[:_SHOWN])
        if len(foreign) > _SHOWN:
            listed = said("{things} and others", things=listed)
        raise ProjectError.said(
            "{path} contains what ReelRank never made, and what could change or hide rows: {things}. "
            "Never use the database of somebody you do not trust. Repair your own with `reelrank restore "
            "{parent} BACKUP`, or remove these with sqlite3",
            path=path,
            things=listed,
            parent=path.parent,
        )


@cache
def at(newest: str) -> frozenset[Thing]:
    """What the migrations up to this one make."""
    later = {one.name for one in migrations._migrations if one.name > newest}
    with closing(SqliteDatabase(memory=True)) as db:
        migrations.apply(db, stop_before=later)
        return frozenset(things(db.conn))


def _acts(connection: sqlite3.Connection, thing: Thing) -> bool:
    kind, name, sql = thing
    if kind in ("trigger", "view"):
        return True
    if kind != "table":
        return False
    if "".join(sql.split()).lower().startswith("createvirtual"):
        return True
    with suppress(sqlite3.DatabaseError):
        rows = connection.execute("SELECT hidden FROM pragma_table_xinfo(?)", [name])
        return any(row[0] in _COMPUTED for row in rows)
    return True


_JSON = re.compile(r"json_valid\((\w+)\)")


def texts_with_nul(db: SqliteDatabase) -> Iterator[str]:
    """Where texts have NUL, which earlier releases took and PostgreSQL does not keep: table, row and column."""
    for table in db.tables:
        json = set(_JSON.findall(table.schema))
        keys = ", ".join(f'"{key}"' for key in table.pks)
        for column in (column.name for column in table.columns if column.type == "TEXT"):
            rows = db.conn.execute(
                f'SELECT "{column}", {keys} FROM "{table.name}" '
                f'WHERE instr("{column}", char(0)) > 0 OR (? AND instr("{column}", \'\\u0000\') > 0)',
                [column in json],
            )
            for text, *key in rows:
                if "\0" in text or has_nul_escape(text):
                    yield f"table {table.name}, row {', '.join(map(str, key))}, column {column}"
