"""Keep a project's database in an SQLite file, and write to it in transactions.

Threads may share a store. Each thread gets its own connection, because a connection that outlives the thread that
opened it fails at random moments.

Every write happens inside `writing(store)`, which takes SQLite's write lock at once. A transaction that first reads and
then wants to write would be refused immediately with "database is locked", whatever the timeout. Threads of one process
first wait for a lock inside the process, because SQLite makes waiting connections sleep in steps of up to 100 ms.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from backend.core.errors import ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.core.file_system import make_private_file
from backend.core.messages import said
from backend.store.engine import Database, Lock, SqliteDatabase, checked
from backend.store.foreign import SchemaObject, require_known, schema_objects, texts_with_nul
from backend.store.schema import migrations

T = TypeVar("T")
BUSY_TIMEOUT_S = 30.0
PRAGMAS = {"foreign_keys": 1, "recursive_triggers": 1, "journal_mode": "wal", "synchronous": 2}
"""The pragmas that every connection sets and checks.

foreign_keys: a judgement without its seat cannot exist. recursive_triggers: without it, INSERT OR REPLACE
slips past the append-only triggers. synchronous FULL: "saved" means saved, also when the power fails.
"""

_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY: said(
        "another program has kept it locked for {seconds:.0f} s: close that program (a database browser, a "
        "copy in progress)",
        seconds=BUSY_TIMEOUT_S,
    ),
    sqlite3.SQLITE_FULL: said("the disk is full: make room"),
    sqlite3.SQLITE_READONLY: said(
        "it cannot be written: make the file and its folder writable for the user who runs ReelRank"
    ),
    sqlite3.SQLITE_CANTOPEN: said(
        "it cannot be opened: make the file and its folder readable and writable for the user who runs ReelRank"
    ),
    sqlite3.SQLITE_IOERR: said("the disk reports an error: check whether it is full, unplugged or failing"),
}

READ_ERRORS = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions that reading a damaged file may raise. UnicodeDecodeError: SQLite's message quotes a damaged name."""

_turns: dict[Path, threading.Lock] = {}


class _Connection(sqlite3.Connection):
    """A connection that refuses texts that PostgreSQL cannot store."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        return super().execute(sql, checked(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        return super().executemany(sql, map(checked, parameters))


class SqliteStore:
    """The database of one project in an SQLite file. Each thread gets its own connection when it first needs one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = _turns.setdefault(path.resolve(), threading.Lock())
        """The lock that the writing threads of this process take in turn."""
        self._local = threading.local()

    @property
    def db(self) -> SqliteDatabase:
        """This thread's connection, which is opened at first use."""
        db: SqliteDatabase | None = getattr(self._local, "db", None)
        if db is None:
            with _explain_errors(self.path):
                db = self._local.db = _connect(self.path)
        return db

    @property
    def overtaken(self) -> int:
        """Always 0: one transaction writes at a time."""
        return 0

    def close(self) -> None:
        """Close this thread's connection."""
        db: SqliteDatabase | None = getattr(self._local, "db", None)
        if db is not None:
            db.conn.close()
            del self._local.db

    @property
    def place(self) -> str:
        """The path of the database file."""
        return str(self.path)

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""
        return str(migrations.applied(self.db)[-1].name)

    def damaged_pages(self) -> list[str]:
        """Return a description of each fault that SQLite finds in the file and its indexes; slower than `damage`."""
        return [row[0] for row in self.db.conn.execute("PRAGMA integrity_check") if row[0] != "ok"]

    def dangling(self) -> list[str]:
        """Return a description of each row with a broken foreign key: the row to which it refers does not exist."""
        return [f"{row[0]} row {row[1]} -> {row[2]}" for row in self.db.conn.execute("PRAGMA foreign_key_check")]

    def texts_with_nul(self) -> list[str]:
        """Return table, row and column of each text with a NUL character, which PostgreSQL could not store."""
        return list(texts_with_nul(self.db))

    def schema_differences(self) -> list[str]:
        """Return the tables, indexes, triggers and views that differ from those that the migrations create.

        Those that are missing or unexpected are included.
        """
        with closing(fresh()) as made:
            return sorted({" ".join(thing[:2]) for thing in schema(self.db) ^ schema(made)})

    def copy_to(self, part: Path) -> None:
        """Copy the database as it is now into a new SQLite file, page by page."""
        with closing(sqlite3.connect(part)) as made:
            self.db.conn.backup(made)

    def dump_to(self, part: Path) -> None:
        """Raise `ProjectError`: only PostgreSQL databases can be dumped."""
        raise ProjectError.said(
            "{name} would be a PostgreSQL dump, but this project is the SQLite file {path}: name a FILE.db",
            name=part.name,
            path=self.path,
        )

    def sharing(self, locks: Sequence[Lock], act: Callable[[Database], T]) -> T:
        """Return the result of `act` in a transaction of `writing`: a file has one lock, for all of it."""
        with self.writing() as db:
            return act(db)

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """Open a transaction for all writes of one action; see the function `backend.store.connection.writing`."""
        db = self.db
        if db.conn.in_transaction:
            with db.atomic():
                yield db
            return
        if not self._turn.acquire(timeout=BUSY_TIMEOUT_S):
            raise StoreUnavailable(_text(self.path, sqlite3.SQLITE_BUSY))
        try:
            with _explain_errors(self.path):
                db.conn.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.conn.execute("COMMIT")
                except BaseException:
                    if db.conn.in_transaction:
                        db.conn.execute("ROLLBACK")
                    raise
        finally:
            self._turn.release()

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """Open a transaction in which all reads see the same state of the database."""
        db = self.db
        if db.conn.in_transaction:
            yield db
            return
        with _explain_errors(self.path):
            db.conn.execute("BEGIN")
            try:
                yield db
            finally:
                if db.conn.in_transaction:
                    db.conn.execute("COMMIT")


def create(path: Path) -> SqliteStore:
    """Create the database of a new project, with its tables but no data, in the file `path`.

    A file without tables is filled: a command was killed before it had made them.

    Raises:
        ProjectError: another file is already there.
        StoreUnavailable: it cannot be written; nothing is left behind.
    """
    if path.exists() and not _has_no_tables(path):
        raise ProjectError.said("{path} already exists: choose another folder, or use this project as it is", path=path)
    store = SqliteStore(path)
    try:
        with suppress(OSError):  # SQLite runs into the same error, and reports it
            make_private_file(path)  # SQLite's companion files get the same permissions
        with _explain_errors(path), closing(fresh()) as made:
            made.conn.backup(store.db.conn)
    except BaseException:
        store.close()
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        raise
    return store


def _has_no_tables(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as db:
            return not db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_master)").fetchone()[0]
    except sqlite3.Error:
        return False


def fresh(before: str | None = None) -> SqliteDatabase:
    """Return a new database in memory with the tables that the migrations create, but no data.

    `before` is the first migration that is not applied; by default all are.
    """
    db = SqliteDatabase(memory=True)
    db.conn.deserialize(_fresh_pages(before))
    return db


@cache
def _fresh_pages(before: str | None) -> bytes:
    """Return the bytes of a database with tables but no data. Cached, because the migrations take 50 ms."""
    with closing(SqliteDatabase(memory=True)) as db:
        migrations.apply(db, stop_before=before)
        return db.conn.serialize()


def open_store(path: Path) -> SqliteStore:
    """Open the database of a project, and refuse one that this version of the code does not fully understand.

    The pages are checked every time (0.3 s for 100 MB), so that damage is noticed before anybody works on the database.

    Raises:
        ProjectError: there is no database, it is damaged, or it has triggers, views or the like that no migration
            created (see `foreign`).
        SchemaOutOfDate: it is older than this code (`reelrank migrate`) or newer.
    """
    if not path.is_file():
        raise ProjectError.said(
            "{parent} is not a project (no {name}): run `reelrank init {parent}`", parent=path.parent, name=path.name
        )
    store = SqliteStore(path)
    try:
        _require_usable(store)
    except BaseException:
        store.close()  # an idle connection counts as use
        raise
    return store


def _require_usable(store: SqliteStore) -> None:
    path = store.path
    unknown, pending = schema_gap(store)
    if not unknown:
        with _explain_errors(path):
            require_known(store.db.conn, path)
    if unknown:
        raise SchemaOutOfDate.said(
            "{path} was written by a newer ReelRank (it has {unknown}): update ReelRank to open it",
            path=path,
            unknown=", ".join(unknown),
        )
    if pending:
        raise SchemaOutOfDate.said(
            "{path} has an older schema ({pending} missing): run `reelrank migrate {parent}`",
            path=path,
            pending=", ".join(pending),
            parent=path.parent,
        )
    with _explain_errors(path):
        wrong = damage(store.db.conn)
    if wrong:
        raise damaged(path, wrong)


def references_to(table: str) -> list[tuple[str, str]]:
    """Return (table, column) of every foreign key to a table, according to the migrations."""
    with closing(fresh()) as made:
        rows = made.conn.execute(
            'SELECT t.name, f."from" FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f '
            "WHERE t.type = 'table' AND f.\"table\" = ? ORDER BY 1, 2",
            [table],
        )
        return [(row[0], row[1]) for row in rows]


def schema(db: SqliteDatabase) -> set[SchemaObject]:
    """Return (type, name, SQL) of every object in the database except SQLite's own."""
    return schema_objects(db.conn)


def schema_gap(store: SqliteStore) -> tuple[list[str], list[str]]:
    """Return (applied migrations that the code does not know, migrations of the code that are not applied yet).

    Raises:
        StoreUnavailable: the database is damaged, or the file is no database.
    """
    known = {migration.name for migration in migrations._migrations}
    try:
        applied = {migration.name for migration in migrations.applied(store.db)}
    except (*READ_ERRORS, StoreUnavailable) as error:
        cause = error.__cause__ if isinstance(error, StoreUnavailable) else error
        if is_damage(cause):
            raise damaged(store.path, str(cause)) from error
        raise
    return sorted(applied - known), sorted(known - applied)


def damage(connection: sqlite3.Connection) -> str | None:
    """Return a description of the first fault that SQLite finds in the pages of a database; None if there is none.

    Indexes are not compared with their tables (`reelrank doctor` does that). A changed letter inside a text cannot be
    detected, because SQLite stores no checksums.
    """
    try:
        finding: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except READ_ERRORS as error:
        if not is_damage(error):
            raise
        return str(error)
    return None if finding == "ok" else " ".join(finding.removeprefix("*** in database main ***").split())


def is_damage(error: BaseException | None) -> bool:
    """Return whether an error from SQLite means that the file is damaged or is no database."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # A wrong byte in the header, or in a text, has no code of its own.
    return (
        code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        or str(error) == "unsupported file format"
        or str(error).startswith("Could not decode to UTF-8")
        or isinstance(error, UnicodeDecodeError)
    )


def damaged(path: Path | str, fault: str) -> StoreUnavailable:
    """Return the error to raise about a damaged database; `fault` says what is wrong with it."""
    return StoreUnavailable.said(
        "{path} is damaged, or not a ReelRank database ({what}). Stop the server, then run `reelrank "
        "restore {parent} BACKUP`. The damaged file is kept beside it.",
        path=path,
        what=fault,
        parent=Path(path).parent,
    )


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about the disk, its locks or damaged files into ReelRank's errors, which say what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise damaged(path, str(error)) from error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the upper bits only refine it
        if code not in _UNAVAILABLE:
            raise
        raise StoreUnavailable(_text(path, code)) from error


def _text(path: Path, code: int) -> str:
    return said(
        "The database {path} cannot be used: {unavailable}. Then try again. Saved work is safe; this "
        "change was not saved.",
        path=path,
        unavailable=_UNAVAILABLE[code],
    )


def _connect(path: Path) -> SqliteDatabase:
    """Open a connection to an SQLite file, set `PRAGMAS`, and check that SQLite accepted them; rows are `sqlite3.Row`.

    Raises:
        ProjectError: SQLite did not accept one of the pragmas.
    """
    # isolation_level=None: transactions begin and end only where this module says so.
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, factory=_Connection)
    connection.row_factory = sqlite3.Row
    for name, value in PRAGMAS.items():
        connection.execute(f"PRAGMA {name} = {value}")
        actual = connection.execute(f"PRAGMA {name}").fetchone()[0]
        if actual != value:
            raise ProjectError.said(
                "{path}: SQLite refused {name} = {value} (it is {actual})",
                path=path,
                name=name,
                value=value,
                actual=actual,
            )
    # Plugins are for the command line of sqlite-utils; looking for them reads every installed package.
    return SqliteDatabase(connection, execute_plugins=False)
