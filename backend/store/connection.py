"""Opening the project's SQLite file, and the one way to write to it.

A `Store` may be shared by threads: each thread gets its own connection, because a connection that outlives
the thread which made it fails at random moments. Every write happens inside `writing(store)`, which takes
SQLite's write lock at once: a transaction that first reads and then wants to write is refused immediately
with "database is locked", whatever the timeout says.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database as Database

from backend.core.errors import ProjectError, SchemaOutOfDate
from backend.store.schema import migrations

BUSY_TIMEOUT_S = 30.0
PRAGMAS = {"foreign_keys": 1, "recursive_triggers": 1, "journal_mode": "wal", "synchronous": 2}
"""Set and read back on every connection.

foreign_keys: a judgement without its seat cannot exist. recursive_triggers: without it, INSERT OR REPLACE
slips past the append-only triggers. synchronous FULL: "saved" means saved, also when the power fails.
"""


class Store:
    """The database of one project. Cheap to make; connections open when a thread first asks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()

    @property
    def db(self) -> Database:
        """This thread's connection."""
        db: Database | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = _connect(self.path)
        return db

    def close(self) -> None:
        """Close this thread's connection."""
        db: Database | None = getattr(self._local, "db", None)
        if db is not None:
            db.conn.close()
            del self._local.db


def create(path: Path) -> Store:
    """A new, empty database at `path`.

    Raises:
        ProjectError: a file is already there.
    """
    if path.exists():
        raise ProjectError(f"{path} exists already: choose another folder, or use this project as it is")
    store = Store(path)
    migrations.apply(store.db)
    return store


def open_store(path: Path) -> Store:
    """Open the database of a project, refusing one that this code does not fully understand.

    Raises:
        ProjectError: no database there, or the file is not one.
        SchemaOutOfDate: it is older (`reelrank migrate`) or newer than this code.
    """
    if not path.is_file():
        raise ProjectError(f"{path.parent} is not a project (no {path.name}): run `reelrank init {path.parent}`")
    store = Store(path)
    try:
        known = {migration.name for migration in migrations._migrations}
        applied = {migration.name for migration in migrations.applied(store.db)}
    except sqlite3.DatabaseError as error:
        raise ProjectError(f"{path} is not a ReelRank database ({error})") from error
    if unknown := sorted(applied - known):
        raise SchemaOutOfDate(
            f"{path} was written by a newer ReelRank (it has {', '.join(unknown)}): update ReelRank to open it"
        )
    if pending := sorted(known - applied):
        raise SchemaOutOfDate(
            f"{path} has an older schema ({', '.join(pending)} missing): run `reelrank migrate {path.parent}`"
        )
    return store


def schema_level(store: Store) -> str:
    """Name of the newest applied migration, such as `m001_initial`."""
    return migrations.applied(store.db)[-1].name


def migrate(path: Path) -> tuple[list[str], Path | None]:
    """Bring an older database up to date, after copying it beside itself.

    Returns:
        The names of the migrations applied now, and where the copy of the old state lies (None if nothing
        was to do).
    """
    if not path.is_file():
        raise ProjectError(f"{path.parent} is not a project (no {path.name}): run `reelrank init {path.parent}`")
    store = Store(path)
    pending = [migration.name for migration in migrations.pending(store.db)]
    if not pending:
        open_store(path).close()  # refuses a newer schema
        return [], None
    copy = path.with_name(f"{path.stem}.before-{pending[0]}.db")
    backup(store, copy)
    migrations.apply(store.db)
    return pending, copy


def backup(store: Store, target: Path) -> None:
    """A consistent copy of the live database, made while people go on working.

    Raises:
        ProjectError: `target` exists already (a backup never overwrites).
    """
    if target.exists():
        raise ProjectError(f"{target} exists already: a backup never overwrites a file")
    part = target.with_name(target.name + ".part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(part)) as copy:
        store.db.conn.backup(copy)
        copy.execute("PRAGMA journal_mode=delete")  # one file, no companions
    part.replace(target)


@contextmanager
def writing(store: Store) -> Iterator[Database]:
    """All writes of one act, as one transaction holding the write lock from its first statement.

    Nested use joins the outer transaction. Keep it short: nothing slow (encoding, cutting, network) inside.
    """
    db = store.db
    if db.conn.in_transaction:
        with db.atomic():
            yield db
        return
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        if db.conn.in_transaction:
            db.conn.execute("ROLLBACK")
        raise
    else:
        db.conn.execute("COMMIT")


@contextmanager
def reading(store: Store) -> Iterator[Database]:
    """Several reads that see one and the same state of the database."""
    db = store.db
    if db.conn.in_transaction:
        yield db
        return
    db.conn.execute("BEGIN")
    try:
        yield db
    finally:
        db.conn.execute("COMMIT")


def _connect(path: Path) -> Database:
    """Open with every pragma set and read back; rows come as `sqlite3.Row`."""
    # isolation_level=None: transactions begin and end only where this module says so.
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=True)
    connection.row_factory = sqlite3.Row
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name} = {value}")
        actual = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if actual != value:
            raise ProjectError(f"{path}: SQLite refused {name} = {value} (it is {actual})")
    return Database(connection)
