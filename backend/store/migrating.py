"""Upgrade the schema of a project's database in PostgreSQL, in one transaction.

There is one description of each migration: what it does to an SQLite database. So all rows are copied into a file, the
migrations change the file, and its tables replace those of the database. If the process is killed, the server undoes
the transaction, and the old tables are whole.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from psycopg.errors import DependentObjectsStillExist, InsufficientPrivilege

from backend.core.errors import ProjectError, StoreUnavailable
from backend.store import creating, definitions, sqlite, upgrade_lock, upkeep
from backend.store.copies import keep
from backend.store.dialect import Raw
from backend.store.engine import Database, SqliteDatabase
from backend.store.files import digests, free, part_file
from backend.store.moving import require_same
from backend.store.opening import open_any, pending_in
from backend.store.postgresql import PostgresStore

ENDING_S = 10.0
"""Seconds for which a connection may still exist after it was told to end."""
_CLIENTS = b"""
  SELECT pid, backend_start, coalesce(application_name, '') FROM pg_catalog.pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def migrate(address: str, path: Path, *, derive: Callable[[Database], None]) -> tuple[list[str], Path | None]:
    """Bring an older database in PostgreSQL up to date; a copy of the old state is kept in the project's folder.

    Front ends may run: they tell people to wait until they are restarted with this code (see `upgrade_lock`).

    Args:
        address: the address of the project's database.
        path: the database file that the project would have; the copy is named after it.
        derive: called after the migrations to rebuild the tables that are derived from others.

    Returns:
        (names of the migrations applied now, SQLite file with the old state). The file is None if the database was up
        to date.

    Raises:
        ProjectError: there is no project at the address, its tables are not those that ReelRank made, or the user may
            not replace them. Nothing changed.
        SchemaOutOfDate: the database is newer than this code.
        StoreUnavailable: the database cannot be reached, or others use it that cannot be told to wait. Nothing changed.
    """
    store, pending = open_any(address, path.parent)
    try:
        if not pending:
            return [], None
        with store.writing(), store.one() as raw:
            if not (pending := pending_in(store)):
                return [], None  # another process was quicker
            _require_ours(raw, store.place, pending[0])
            take_lock(raw, store.place)
            # Rows come in the same order each time, so that the copy of an earlier, killed run is recognised.
            raw.execute("SET LOCAL synchronize_seqscans = off")
            with part_file(path) as part:
                kept = _pull(store, part, path, pending[0])
                upkeep.upgrade(part, derive)
                _push(store, raw, part, pending[0])
    except InsufficientPrivilege as error:
        raise ProjectError(
            f"{store.place} cannot be upgraded by the user whom the address names ({error}): name the one who made the "
            "tables. Nothing was changed."
        ) from error
    finally:
        store.close()
    return pending, kept


def take_lock(raw: Raw, place: str) -> None:
    """Take the lock until the transaction ends, and end all other connections to the database.

    Transactions in them are undone. A connection made later gets `BeingUpgraded`.

    Args:
        raw: a connection in a transaction that holds the writers' lock.
        place: the address of the database, for messages.

    Raises:
        StoreUnavailable: others are connected that do not respect the lock. Nobody was disturbed.
    """
    raw.execute(b"SELECT pg_advisory_xact_lock(%s)", [upgrade_lock.KEY])
    # Whoever found the lock free was connected before it was taken, so is in this list.
    clients = _clients(raw)
    if strangers := [name for _, _, name in clients if name != upgrade_lock.APPLICATION]:
        raise _in_use(place, strangers)
    raw.execute(b"SELECT pg_terminate_backend(pid) FROM unnest(%s::int[]) pid", [[pid for pid, _, _ in clients]])
    until = time.monotonic() + ENDING_S
    while left := clients & _clients(raw):
        if time.monotonic() > until:
            raise _in_use(place, [name for _, _, name in left])
        time.sleep(0.02)


def _clients(raw: Raw) -> set[tuple[int, object, str]]:
    """Return (process id, start, application) of all other connections to the database."""
    raw.execute(b"SELECT pg_stat_clear_snapshot()")  # or a transaction would see the first list again
    return {(row[0], row[1], row[2]) for row in raw.execute(_CLIENTS)}


def _in_use(place: str, names: list[str]) -> StoreUnavailable:
    listed = ", ".join(sorted({name or "without a name" for name in names}))
    return StoreUnavailable(
        f"{place} is in use by {len(names)} connections that cannot be told to wait ({listed}): stop every server and "
        "command of an older ReelRank, and every other program there, then try again. Nothing was changed."
    )


def _pull(store: PostgresStore, part: Path, path: Path, first: str) -> Path:
    """Copy the database into the file `part`, and keep a copy of that; return the path of the kept copy."""
    store.copy_to(part, first)
    with closing(SqliteDatabase(sqlite3.connect(part), execute_plugins=False)) as pulled:
        require_same(digests(store.conn, pulled), digests(pulled.conn, pulled))
        return keep(pulled.conn, free(path.with_name(f"{path.stem}.before-{first}.db")))


def _push(store: PostgresStore, raw: Raw, part: Path, first: str) -> None:
    """Replace the tables of the database by those of the file `part`."""
    with closing(sqlite.fresh(first)) as old:
        try:
            raw.execute(";\n".join(definitions.removals(old)).encode(), prepare=False)
        except DependentObjectsStillExist as error:
            raise _not_ours(store.place, str(error.diag.message_detail)) from error
    with closing(SqliteDatabase(sqlite3.connect(part), execute_plugins=False)) as new:
        expected = digests(new.conn, new)
        creating.fill(store, raw, new, lambda moved: require_same(expected, digests(moved, new)))


def _require_ours(raw: Raw, place: str, first: str) -> None:
    """Refuse a database with tables, columns, triggers or views that would be lost, or miss something."""
    different = [thing for thing in definitions.differences(raw, first) if not thing.startswith("index ")]
    if different:
        raise _not_ours(place, ", ".join(different))


def _not_ours(place: str, things: str) -> ProjectError:
    return ProjectError(
        f"{place} is not as ReelRank made it, and an upgrade would lose what is different: {things}. Remove what "
        "ReelRank did not make, or move it to another database; put back what is missing. Then try again. Nothing was "
        "changed."
    )
