"""Open a project's database, whichever engine keeps it, and write to it in the one way there is."""

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
    """The database of one project; threads may share it."""

    @property
    def db(self) -> Database:
        """What runs statements for this thread."""

    @property
    def schema_level(self) -> str:
        """Name of the newest applied migration, such as `m001_initial`."""

    @property
    def place(self) -> str:
        """Where the database is, for a person to read: a file, or an address without its password."""

    def damaged_pages(self) -> list[str]:
        """What the engine finds wrong with its own pages."""

    def dangling(self) -> list[str]:
        """Rows that point to rows which do not exist."""

    def texts_with_nul(self) -> list[str]:
        """Table, row and column of each text that an earlier release took and that PostgreSQL does not keep."""

    def schema_differences(self) -> list[str]:
        """Tables, indexes, triggers and views that are not as the migrations make them."""

    def copy_to(self, part: Path) -> None:
        """Everything as it is at this instant, into a new file of SQLite's."""

    def dump_to(self, part: Path) -> None:
        """The same as the engine's own tools keep it; refused where it has no such form."""

    def writing(self) -> AbstractContextManager[Database]:
        """See `writing`."""

    def reading(self) -> AbstractContextManager[Database]:
        """See `reading`."""

    def close(self) -> None:
        """Close what this thread, or nobody, has open; it opens again when it is needed."""


def create(path: Path, address: str = "") -> Store:
    """A new, empty database: at `path`, or at an address of PostgreSQL.

    Raises:
        ProjectError: there is one already.
        StoreUnavailable: it cannot be written; nothing is left behind.
    """
    if address:
        with driver():
            from backend.store import creating

            return creating.create(address)
    return sqlite.create(path)


def open_store(path: Path, address: str = "") -> Store:
    """Open the database of a project, refusing one that this code does not fully understand.

    The pages of a file are checked every time (0.3 s for 100 MB): a damaged database is to be noticed before it is
    worked on.

    Raises:
        ProjectError: no database there, or it is damaged.
        SchemaOutOfDate: it is older (`reelrank migrate`) or newer than this code.
    """
    if address:
        with driver():
            from backend.store import postgresql

            return postgresql.open_store(address, path.parent)
    return sqlite.open_store(path)


@contextmanager
def driver() -> Iterator[None]:
    """What speaks to PostgreSQL is an extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise StoreUnavailable.said(
            "PostgreSQL needs the package {error}, which is not installed: run `pip install 'reelrank[postgresql]'`",
            error=error.name,
        ) from error


def writing(store: Store) -> AbstractContextManager[Database]:
    """All writes of one act, as one transaction that is the only one to write from its first statement.

    Nested use joins the outer transaction. Keep it short: nothing slow (encoding, cutting, network) inside.

    Raises:
        StoreUnavailable: the disk is full or read-only, another program holds the lock; nothing was written.
    """
    return store.writing()


def reading(store: Store) -> AbstractContextManager[Database]:
    """Several reads that see one and the same state of the database."""
    return store.reading()


def has_our_schema(store: Store) -> bool:
    """Whether a database that was opened is still of the schema that this code is made for.

    Raises:
        StoreUnavailable: it cannot be read.
    """
    with store.reading():
        return store.schema_level == migrations._migrations[-1].name


def campaign_secret(store: Store) -> bytes:
    """Return the campaign's secret, and make it if the database has none yet.

    Raises:
        StoreUnavailable: there is none, and the database cannot be written.
    """
    if found := read_secret(store.db):
        return found
    with store.writing() as db:
        return ensure_secret(db)
