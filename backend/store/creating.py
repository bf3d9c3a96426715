"""Create a project's tables in an empty PostgreSQL database, and copy the rows of an SQLite database into them."""

from collections.abc import Callable
from contextlib import closing

from psycopg import sql

from backend.core.errors import ProjectError
from backend.store import sqlite
from backend.store.address import hide_password
from backend.store.definitions import keys_indexes_and_triggers, table_names, tables
from backend.store.dialect import Raw
from backend.store.engine import SqliteDatabase
from backend.store.postgresql import PostgresConnection, PostgresStore


def create(address: str) -> PostgresStore:
    """Create the tables of a new project in an empty PostgreSQL database.

    Raises:
        ProjectError: the database has a project already, or does not store text as UTF-8.
        StoreUnavailable: the database cannot be reached or written to; nothing is left behind.
    """
    with closing(sqlite.fresh()) as db:
        return create_from(address, db)


def create_from(
    address: str, source: SqliteDatabase, check: Callable[[PostgresConnection], object] = lambda moved: None
) -> PostgresStore:
    """Copy an SQLite database with all its rows into an empty PostgreSQL database, in one transaction.

    Args:
        address: the address of the empty database.
        source: the SQLite database to copy.
        check: called with a connection to the copy before the commit; an exception from it undoes everything.

    Raises:
        ProjectError: the database has a project already, or does not store text as UTF-8.
        StoreUnavailable: the database cannot be reached or written to; nothing is left behind.
        Exception: whatever `check` raises.
    """
    store = PostgresStore(address)
    try:
        if store.has_project:
            raise ProjectError(
                f"{hide_password(address)} already has a project: name an empty database, one for each project, or "
                "open that project"
            )
        with store.writing(), store.one() as raw:
            if (encoding := raw.info.parameter_status("server_encoding")) != "UTF8":
                raise ProjectError.said(
                    "{address} stores text as {encoding}, which cannot hold every caption: make the database with "
                    "`createdb --encoding UTF8 --template template0`",
                    address=hide_password(address),
                    encoding=encoding,
                )
            fill(store, raw, source, check)
    except BaseException:
        store.close()
        raise
    return store


def fill(store: PostgresStore, raw: Raw, source: SqliteDatabase, check: Callable[[PostgresConnection], object]) -> None:
    """Create the tables of an SQLite database in PostgreSQL, with all rows; call it in a transaction.

    Args:
        store: the database; it has none of these tables.
        raw: the connection of its transaction.
        source: the SQLite database.
        check: called with a connection to the copy once all rows are there.
    """
    # One message instead of hundreds of round trips.
    raw.execute(";\n".join(tables(source)).encode(), prepare=False)
    for name in table_names(source):
        if source.conn.execute(f'SELECT EXISTS (SELECT 1 FROM "{name}")').fetchone()[0]:
            _copy(raw, source, name)
    raw.execute(";\n".join(keys_indexes_and_triggers(source)).encode(), prepare=False)
    check(store.conn)
    # Without statistics the server takes large tables for small ones, which costs 0.1 s an exchange.
    raw.execute(sql.SQL("ANALYZE {}").format(sql.SQL(", ").join(map(sql.Identifier, table_names(source)))))


def _copy(raw: Raw, source: SqliteDatabase, table: str) -> None:
    """Copy all rows of a table, and set its identity column so that new rows get higher numbers."""
    columns = [column.name for column in source.table(table).columns]
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    quoted = ", ".join(f'"{name}"' for name in columns)
    with raw.cursor() as cursor, cursor.copy(into) as rows:
        for row in source.conn.execute(f'SELECT {quoted} FROM "{table}"'):
            rows.write_row(tuple(row))
    counted = raw.execute(
        "SELECT a.attname FROM pg_attribute a WHERE a.attrelid = %s::regclass AND a.attidentity <> ''", [f'"{table}"']
    ).fetchone()
    if counted:
        last = sql.SQL("SELECT setval(pg_get_serial_sequence(%s, %s), max({column})) FROM {table} HAVING count(*) > 0")
        raw.execute(
            last.format(column=sql.Identifier(counted[0]), table=sql.Identifier(table)), [f'"{table}"', counted[0]]
        )
