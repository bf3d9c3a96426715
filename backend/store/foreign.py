"""Refuse an SQLite database with triggers, views and similar objects that no migration created.

A trigger changes what is written, a view or a generated column changes what is read, and a virtual table runs code of
an extension. Somebody who opens a stranger's project would not notice any of them. Missing objects and extra indexes
are harmless; `reelrank doctor` reports them.
SQLite's own protection, `trusted_schema`, would refuse our tables too: it does not consider `json_valid` in their
checks safe.
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

SchemaObject = tuple[str, str, str]
"""(type, name, SQL) of one object in a database's schema."""

_SQLITES_OWN = re.compile(r"table sqlite_(sequence|stat[14])|index sqlite_autoindex_.*", re.DOTALL)
"""The exact names that SQLite itself uses; an object with a similar name may be an attempt to hide."""
_NOTED = "_sqlite_migrations"
_SHOWN = 5
_COMPUTED = (2, 3)
"""Values of `hidden` in `table_xinfo` for generated columns."""


def schema_objects(connection: sqlite3.Connection) -> set[SchemaObject]:
    """Return (type, name, SQL) of each object in a database's schema, except those that SQLite itself creates."""
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(row[0], row[1], row[2]) for row in rows if not _SQLITES_OWN.fullmatch(f"{row[0]} {row[1]}")}


def digest(objects: Collection[SchemaObject]) -> str:
    """Return the SHA-256 of a set of schema objects, in hex."""
    return hashlib.sha256(repr(sorted(objects)).encode()).hexdigest()


def require_known(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database with triggers, views, generated columns or virtual tables that no migration created.

    None of them is run by the check.

    Args:
        connection: a connection to the database.
        path: names the database in the message.

    Raises:
        ProjectError: there are such objects.
    """
    objects = schema_objects(connection)
    noted = next((kind for kind, name, _ in objects if name == _NOTED), None)
    if noted is None:
        return  # not a ReelRank database: the caller reports that
    if noted == "table":
        names = {row[0] for row in connection.execute(f"SELECT name FROM {_NOTED} WHERE migration_set = 'reelrank'")}
        newest = max(names & {entry.name for entry in migrations._migrations}, default="")
        if DIGESTS.get(newest) == digest(objects):
            return
        ours = objects_up_to(newest) if newest else frozenset()
    else:
        ours = frozenset()
    if foreign := [" ".join(entry[:2]) for entry in sorted(objects - ours) if _acts(connection, entry)]:
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
def objects_up_to(newest: str) -> frozenset[SchemaObject]:
    """Return the schema objects that the migrations up to `newest` create."""
    later = {migration.name for migration in migrations._migrations if migration.name > newest}
    with closing(SqliteDatabase(memory=True)) as db:
        migrations.apply(db, stop_before=later)
        return frozenset(schema_objects(db.conn))


def _acts(connection: sqlite3.Connection, entry: SchemaObject) -> bool:
    kind, name, sql = entry
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
    """Yield table, row and column of each text with a NUL character.

    Earlier releases stored such texts in SQLite; PostgreSQL cannot store them.
    """
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
