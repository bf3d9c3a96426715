"""Open a project's database, in SQLite or PostgreSQL, and write to it in transactions."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Protocol, TypeVar

from backend.core.errors import NotAllowed, StoreUnavailable
from backend.core.messages import said
from backend.store import sqlite
from backend.store.engine import Database as Database
from backend.store.engine import Lock as Lock
from backend.store.engine import Select as Select
from backend.store.engine import ServerDatabase
from backend.store.engine import fetch as fetch
from backend.store.engine import fetch_one as fetch_one
from backend.store.files import ensure_secret, read_secret
from backend.store.schema import migrations

T = TypeVar("T")
_may_write: ContextVar[bool] = ContextVar("may_write", default=True)


class Store(Protocol):
    """The database of one project, in SQLite or PostgreSQL. Threads may share it."""

    @property
    def db(self) -> Database:
        """The object through which this thread runs SQL statements."""

    @property
    def overtaken(self) -> int:
        """How often this process began a transaction of `sharing` again, because another one had overtaken it."""

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""

    @property
    def place(self) -> str:
        """Where the database is, for display: the path of a file, or an address without its password."""

    def damaged_pages(self) -> list[str]:
        """Return a description of each fault that the database engine finds in the stored data."""

    def dangling(self) -> list[str]:
        """Return a description of each row with a broken foreign key: the row to which it refers does not exist."""

    def texts_with_nul(self) -> list[str]:
        """Return table, row and column of each text with a NUL character.

        Earlier releases stored such texts in SQLite; PostgreSQL cannot store them.
        """

    def schema_differences(self) -> list[str]:
        """Return the tables, indexes, triggers and views that differ from those that the migrations create.

        Those that are missing or unexpected are included.
        """

    def copy_to(self, part: Path) -> None:
        """Copy the database as it is now into a new SQLite file, whatever its engine."""

    def dump_to(self, part: Path) -> None:
        """Dump the database as it is now with the tools of its engine, `pg_dump` for PostgreSQL.

        Raises:
            ProjectError: the engine has no such tools.
        """

    def writing(self) -> AbstractContextManager[Database]:
        """Open a transaction for all writes of one action. Other modules call the function `writing` instead."""

    def sharing(self, locks: Sequence[Lock], act: Callable[[Database], T]) -> T:
        """Run `act` in a transaction that locks only what it touches. Other modules call the function `sharing`."""

    def reading(self) -> AbstractContextManager[Database]:
        """Open a transaction in which all reads see the same state. Other modules call the function `reading`."""

    def close(self) -> None:
        """Close this thread's connections and idle ones. They are opened again when needed."""


def create(path: Path, address: str = "") -> Store:
    """Create the database of a new project, with its tables but no data, and return it.

    The database is the file `path`, or the PostgreSQL database at `address` if that is not empty.

    Raises:
        ProjectError: a database exists there already.
        StoreUnavailable: it cannot be written; nothing is left behind.
    """
    if address:
        with driver():
            from backend.store import creating

            return creating.create(address)
    return sqlite.create(path)


def open_store(path: Path, address: str = "") -> Store:
    """Open the database of a project, and refuse one that this version of the code does not fully understand.

    The database is the file `path`, or the PostgreSQL database at `address` if that is not empty. The pages of a file
    are checked every time (0.3 s for 100 MB), so that damage is noticed before anybody works on it.

    Raises:
        ProjectError: there is no database, or it is damaged.
        SchemaOutOfDate: it is older than this code (`reelrank migrate`) or newer.
    """
    if address:
        with driver():
            from backend.store import opening

            return opening.open_store(address, path.parent)
    return sqlite.open_store(path)


@contextmanager
def driver() -> Iterator[None]:
    """Turn a missing PostgreSQL driver in the `with` block into `StoreUnavailable`, with advice on installing it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise StoreUnavailable.said(
            "PostgreSQL needs the package {error}, which is not installed: run `pip install 'reelrank[postgresql]'`",
            error=error.name,
        ) from error


def writing(store: Store) -> AbstractContextManager[Database]:
    """Open a transaction for all writes of one action; it holds the write lock from its first statement.

    If a transaction is open already, this becomes a part of it. Do nothing slow inside (encoding, cutting, network),
    because others wait for the lock.

    Raises:
        NotAllowed: the caller may only read (see `reading_only`).
        StoreUnavailable: the disk is full or read-only, or another program holds the lock; nothing was written.
    """
    _require_writing()
    return store.writing()


def sharing(store: Store, locks: Sequence[Lock], act: Callable[[Database], T]) -> T:
    """Return the result of `act`, which gets the database in a transaction that locks only what it touches.

    In a PostgreSQL database, transactions with other locks run at the same time, but never beside one of `writing`. If
    the server ends one for the sake of another (a deadlock, or a row that both want to add), `act` runs again from the
    beginning. So it changes nothing but the database. In a file this is a transaction of `writing`.

    Raises:
        NotAllowed: the caller may only read (see `reading_only`).
        StoreUnavailable: as for `writing`; nothing was written.
    """
    _require_writing()
    return store.sharing(locks, act)


def _require_writing() -> None:
    if not _may_write.get():
        raise NotAllowed(said("this token may only read: use one that may also act"))


@contextmanager
def reading_only() -> Iterator[None]:
    """Refuse every write to the database inside the `with` block, by raising `NotAllowed`.

    This also holds in threads that are started from inside the block with its context.
    """
    before = _may_write.set(False)
    try:
        yield
    finally:
        _may_write.reset(before)


def reading(store: Store) -> AbstractContextManager[Database]:
    """Open a transaction in which all reads see the same state of the database."""
    return store.reading()


def is_on_server(store: Store) -> bool:
    """Return whether the database is on a server; otherwise it is a file."""
    return isinstance(store.db, ServerDatabase)


def look(store: Store, *selects: Select[Any]) -> None:
    """Fetch the rows of several SELECTs about one state of the database, in one round trip to a database server."""
    if is_on_server(store):
        fetch(store.db, *selects)
    else:
        with store.reading() as db:
            fetch(db, *selects)


def has_our_schema(store: Store) -> bool:
    """Return whether the newest migration of this code is the newest one applied to the database.

    The result is False if another process migrated the database after this process started.

    Raises:
        StoreUnavailable: the database cannot be read.
    """
    with store.reading():
        return store.schema_level == migrations._migrations[-1].name


def campaign_secret(store: Store) -> bytes:
    """Return the campaign's secret, and create it if the database has none yet.

    It is 32 random bytes from which the order of each annotator's work is derived, so that nobody can predict it.

    Raises:
        StoreUnavailable: there is no secret, and the database cannot be written.
    """
    if secret := read_secret(store.db):
        return secret
    with store.writing() as db:
        return ensure_secret(db)
