"""Open a project's database, in SQLite or PostgreSQL, and write to it in transactions."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from backend.core.errors import StoreUnavailable
from backend.store import sqlite
from backend.store.engine import Database as Database
from backend.store.files import ensure_secret, read_secret
from backend.store.schema import migrations


class Store(Protocol):
    """The database of one project. Threads may share it."""

    @property
    def db(self) -> Database:
        """This thread's handle for running statements."""

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""

    @property
    def place(self) -> str:
        """The location for display: a file, or an address without its password."""

    def damaged_pages(self) -> list[str]:
        """Return the faults that the engine finds in its own pages."""

    def dangling(self) -> list[str]:
        """Return the rows that refer to rows that do not exist."""

    def texts_with_nul(self) -> list[str]:
        """Return table, row and column of each text with NUL. Earlier releases stored such texts; PostgreSQL cannot."""

    def schema_differences(self) -> list[str]:
        """Return the tables, indexes, triggers and views that differ from those that the migrations create."""

    def copy_to(self, part: Path) -> None:
        """Copy the database as it is now into a new SQLite file."""

    def dump_to(self, part: Path) -> None:
        """Dump the database as it is now with the engine's own tools; raise `ProjectError` if there are none."""

    def writing(self) -> AbstractContextManager[Database]:
        """Open a transaction for writing; see `writing`."""

    def reading(self) -> AbstractContextManager[Database]:
        """Open a transaction for reading; see `reading`."""

    def close(self) -> None:
        """Close the connections of this thread and those that no thread uses. They are opened again when needed."""


def create(path: Path, address: str = "") -> Store:
    """Create a new, empty database at `path`, or at an address of PostgreSQL.

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

    The pages of a file are checked every time (0.3 s for 100 MB), so that damage is noticed before anybody works on it.

    Raises:
        ProjectError: there is no database, or it is damaged.
        SchemaOutOfDate: it is older than this code (`reelrank migrate`) or newer.
    """
    if address:
        with driver():
            from backend.store import postgresql

            return postgresql.open_store(address, path.parent)
    return sqlite.open_store(path)


@contextmanager
def driver() -> Iterator[None]:
    """Raise `StoreUnavailable` with installation advice if the optional PostgreSQL driver is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise StoreUnavailable.said(
            "PostgreSQL needs the package {error}, which is not installed: run `pip install 'reelrank[postgresql]'`",
            error=error.name,
        ) from error


def writing(store: Store) -> AbstractContextManager[Database]:
    """Open a transaction for all writes of one action; it holds the write lock from its first statement.

    A nested call joins the outer transaction. Keep it short: do nothing slow (encoding, cutting, network) inside.

    Raises:
        StoreUnavailable: the disk is full or read-only, or another program holds the lock; nothing was written.
    """
    return store.writing()


def reading(store: Store) -> AbstractContextManager[Database]:
    """Open a transaction in which all reads see the same state of the database."""
    return store.reading()


def has_our_schema(store: Store) -> bool:
    """Return whether an open database still has the schema that this code is made for.

    Raises:
        StoreUnavailable: it cannot be read.
    """
    with store.reading():
        return store.schema_level == migrations._migrations[-1].name


def campaign_secret(store: Store) -> bytes:
    """Return the campaign's secret; create it if the database has none yet.

    Raises:
        StoreUnavailable: there is none, and the database cannot be written.
    """
    if secret := read_secret(store.db):
        return secret
    with store.writing() as db:
        return ensure_secret(db)
