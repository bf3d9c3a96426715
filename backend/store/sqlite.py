"""A project's database in an SQLite file, and the one way to write to it.

A store may be shared by threads: each thread gets its own connection, because a connection that outlives
the thread which made it fails at random moments. Every write happens inside `writing(store)`, which takes
SQLite's write lock at once: a transaction that first reads and then wants to write is refused immediately
with "database is locked", whatever the timeout says. Threads of one process queue for a lock of their own first,
because SQLite lets those who wait sleep in steps of up to 100 ms.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from backend.core.errors import ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.core.file_system import make_private_file
from backend.core.messages import said
from backend.store.engine import Database, SqliteDatabase, checked
from backend.store.foreign import Thing, require_known, texts_with_nul, things
from backend.store.schema import migrations

BUSY_TIMEOUT_S = 30.0
PRAGMAS = {"foreign_keys": 1, "recursive_triggers": 1, "journal_mode": "wal", "synchronous": 2}
"""Set and read back on every connection.

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
"""What reading a damaged file may raise; the second where a damaged name is part of SQLite's message."""

_turns: dict[Path, threading.Lock] = {}


class _Connection(sqlite3.Connection):
    """A connection that refuses the texts which PostgreSQL would refuse."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Run one statement."""
        return super().execute(sql, checked(parameters))

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
        """Run one statement for each of many values."""
        return super().executemany(sql, map(checked, parameters))


class SqliteStore:
    """The database of one project. Cheap to make; connections open when a thread first asks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = _turns.setdefault(path.resolve(), threading.Lock())
        """Held by the one thread of this process that writes to this file."""
        self._local = threading.local()

    @property
    def db(self) -> SqliteDatabase:
        """This thread's connection."""
        db: SqliteDatabase | None = getattr(self._local, "db", None)
        if db is None:
            with _told(self.path):
                db = self._local.db = _connect(self.path)
        return db

    def close(self) -> None:
        """Close this thread's connection."""
        db: SqliteDatabase | None = getattr(self._local, "db", None)
        if db is not None:
            db.conn.close()
            del self._local.db

    @property
    def place(self) -> str:
        """The file."""
        return str(self.path)

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""
        return str(migrations.applied(self.db)[-1].name)

    def damaged_pages(self) -> list[str]:
        """What SQLite finds wrong, tables against their indexes included; slower than the check at every opening."""
        return [row[0] for row in self.db.conn.execute("PRAGMA integrity_check") if row[0] != "ok"]

    def dangling(self) -> list[str]:
        """Rows that point to rows which do not exist."""
        return [f"{row[0]} row {row[1]} -> {row[2]}" for row in self.db.conn.execute("PRAGMA foreign_key_check")]

    def texts_with_nul(self) -> list[str]:
        """Table, row and column of each text that PostgreSQL would not keep."""
        return list(texts_with_nul(self.db))

    def schema_differences(self) -> list[str]:
        """Tables, indexes, triggers and views that are not as the migrations make them."""
        with closing(fresh()) as made:
            return sorted({" ".join(thing[:2]) for thing in schema(self.db) ^ schema(made)})

    def copy_to(self, part: Path) -> None:
        """All pages as they are at this instant into a new file."""
        with closing(sqlite3.connect(part)) as made:
            self.db.conn.backup(made)

    def dump_to(self, part: Path) -> None:
        """Refused: its file is the form that it is kept in."""
        raise ProjectError.said(
            "{name} would be a PostgreSQL dump, but this project is the SQLite file {path}: name a FILE.db",
            name=part.name,
            path=self.path,
        )

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """See `connection.writing`."""
        db = self.db
        if db.conn.in_transaction:
            with db.atomic():
                yield db
            return
        if not self._turn.acquire(timeout=BUSY_TIMEOUT_S):
            raise StoreUnavailable(_text(self.path, sqlite3.SQLITE_BUSY))
        try:
            with _told(self.path):
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
        """See `connection.reading`."""
        db = self.db
        if db.conn.in_transaction:
            yield db
            return
        with _told(self.path):
            db.conn.execute("BEGIN")
            try:
                yield db
            finally:
                if db.conn.in_transaction:
                    db.conn.execute("COMMIT")


def create(path: Path) -> SqliteStore:
    """A new, empty database at `path`.

    Raises:
        ProjectError: a file is already there.
        StoreUnavailable: it cannot be written; nothing is left behind.
    """
    if path.exists():
        raise ProjectError.said("{path} already exists: choose another folder, or use this project as it is", path=path)
    store = SqliteStore(path)
    try:
        with suppress(OSError):  # which SQLite meets, too, and says in its own way
            make_private_file(path)  # what SQLite puts beside it gets the same permissions
        with _told(path), closing(fresh()) as made:
            made.conn.backup(store.db.conn)
    except BaseException:
        store.close()
        for end in ("", "-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        raise
    return store


def fresh() -> SqliteDatabase:
    """A new, empty database in memory, as the migrations make it."""
    db = SqliteDatabase(memory=True)
    db.conn.deserialize(_fresh_pages())
    return db


@cache
def _fresh_pages() -> bytes:
    """The migrations take 50 ms, and one process may make and examine many databases."""
    with closing(SqliteDatabase(memory=True)) as db:
        migrations.apply(db)
        return db.conn.serialize()


def open_store(path: Path) -> SqliteStore:
    """Open the database of a project, refusing one that this code does not fully understand.

    The pages are checked every time (0.3 s for 100 MB): a damaged database is to be noticed before it is worked on.

    Raises:
        ProjectError: no database there, it is damaged, or has something in it that acts by itself and is not ours.
        SchemaOutOfDate: it is older (`reelrank migrate`) or newer than this code.
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
        with _told(path):
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
    with _told(path):
        wrong = damage(store.db.conn)
    if wrong:
        raise damaged(path, wrong)


def references_to(table: str) -> list[tuple[str, str]]:
    """(table, column) of all references to a table, as the migrations make them: whichever engine keeps the rows."""
    with closing(fresh()) as made:
        rows = made.conn.execute(
            'SELECT t.name, f."from" FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) f '
            "WHERE t.type = 'table' AND f.\"table\" = ? ORDER BY 1, 2",
            [table],
        )
        return [(row[0], row[1]) for row in rows]


def schema(db: SqliteDatabase) -> set[Thing]:
    """(type, name, SQL) of everything in the database but SQLite's own."""
    return things(db.conn)


def schema_gap(store: SqliteStore) -> tuple[list[str], list[str]]:
    """Migrations of this database that the code does not know, and those of the code that it does not have.

    Raises:
        StoreUnavailable: it is damaged, or no database.
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
    """The first thing that SQLite finds wrong with the pages of a database; None if nothing is.

    Indexes are not compared with their tables (`reelrank doctor` does), and a letter that changed inside a text
    cannot be noticed at all: SQLite keeps no checksums.
    """
    try:
        found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except READ_ERRORS as error:
        if not is_damage(error):
            raise
        return str(error)
    return None if found == "ok" else " ".join(found.removeprefix("*** in database main ***").split())


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says that a file is damaged, or no database at all."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # A wrong byte in the header, or in a text, has no code of its own.
    return (
        code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        or str(error) == "unsupported file format"
        or str(error).startswith("Could not decode to UTF-8")
        or isinstance(error, UnicodeDecodeError)
    )


def damaged(path: Path | str, what: str) -> StoreUnavailable:
    """What to tell a person about a damaged database."""
    return StoreUnavailable.said(
        "{path} is damaged, or not a ReelRank database ({what}). Stop the server, then run `reelrank "
        "restore {parent} BACKUP`. The damaged file is kept beside it.",
        path=path,
        what=what,
        parent=Path(path).parent,
    )


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite says about the disk and its locks into words for a person."""
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
    """Open with every pragma set and read back; rows come as `sqlite3.Row`."""
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
