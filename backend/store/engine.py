"""Import `sqlite-utils` without pandas and numpy, and define the interface that both database engines share.

If pandas and numpy are installed, `sqlite-utils` imports them to guess column types of tables that it creates. No table
here is created that way, and pandas costs every command 0.2 s and 75 MB. All code imports the library from here, so
that it is always loaded the same way.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from backend.core.errors import TextRefused
from backend.core.typed_text import is_storable


class _Absent(MetaPathFinder):
    """An import hook that hides some modules from the thread that created it; other threads import them as usual."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:
        """Raise `ModuleNotFoundError` for a hidden module; leave any other module to the next import hook."""
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Hide modules from imports in the `with` block; modules that are loaded already stay available."""
    finder = _Absent(frozenset(names))
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


with _without("pandas", "numpy"):
    from sqlite_utils import Database as _SqliteDatabase
    from sqlite_utils import Migrations as Migrations
SqliteDatabase = _SqliteDatabase

Parameters = Sequence[Any] | Mapping[str, Any]
_SHOWN = 60


class Cursor(Protocol):
    """The result of a statement: its rows, read by index and by name, and how many rows it changed."""

    @property
    def rowcount(self) -> int:
        """The number of rows that the statement inserted, updated or deleted."""

    def fetchone(self) -> Any:
        """Return the next row; None if no row is left."""

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the remaining rows."""


class Connection(Protocol):
    """A connection to an SQLite or PostgreSQL database, which takes SQL in SQLite's dialect (see `dialect`)."""

    @property
    def in_transaction(self) -> bool:
        """True while this thread is in a transaction."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor:
        """Run one statement, with parameters by position or by name."""

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor:
        """Run one statement once for each set of parameters."""


class Database(Protocol):
    """A database connection with nested transactions, the same for SQLite and PostgreSQL."""

    @property
    def conn(self) -> Connection:
        """The connection that runs statements."""

    def atomic(self) -> AbstractContextManager[Any]:
        """Open a transaction, or a nested one within the current transaction; if it fails, all of it is undone."""


T = TypeVar("T")


class Select(Generic[T]):
    """A SELECT to be fetched together with others, for which a database server needs only one round trip."""

    def __init__(self, sql: str, parameters: Mapping[str, Any], read: Callable[[list[Any]], T]) -> None:
        """Prepare a SELECT.

        Args:
            sql: the statement, with parameters by name and its columns written out. PostgreSQL may return the fraction
                `8.0` as the whole number `8`.
            parameters: its values, none of them None: PostgreSQL would plan the statement anew each time.
            read: makes the result from the rows, which are read by index.
        """
        self.sql, self.parameters, self._read = sql, parameters, read
        self._rows: list[Any] | None = None

    def take(self, rows: list[Any]) -> None:
        """Store the rows that the database returned."""
        self._rows = rows

    @property
    def result(self) -> T:
        """What the rows say.

        Raises:
            ValueError: they were not fetched.
        """
        if self._rows is None:
            raise ValueError(f"not fetched yet: {self.sql}")
        return self._read(self._rows)


class ServerDatabase:
    """A database in another process, where each round trip costs time."""

    def fetch_together(self, selects: Sequence[Select[Any]]) -> None:
        """Fetch the rows of several SELECTs in one round trip."""
        raise NotImplementedError

    def run_later(self, sql: str, parameters: Parameters) -> None:
        """Run a statement together with the next one whose result is needed."""
        raise NotImplementedError


def fetch(db: Database, *selects: Select[Any]) -> None:
    """Fetch the rows of several SELECTs, so that each has its result.

    On a database server all of them see the same state.
    """
    if len(selects) > 1 and isinstance(db, ServerDatabase):
        db.fetch_together(selects)
        return
    for select in selects:
        select.take(db.conn.execute(select.sql, select.parameters).fetchall())


def fetch_one(db: Database, select: Select[T]) -> T:
    """Run one SELECT, and return its result."""
    fetch(db, select)
    return select.result


def run_later(db: Database, sql: str, parameters: Parameters) -> None:
    """Run a statement whose result nobody reads, before the next one and before the transaction ends.

    In a transaction that `sharing` opens on a database server, it is sent with the next statement, so that it costs no
    round trip of its own. An error then comes from that next statement.
    """
    if isinstance(db, ServerDatabase):
        db.run_later(sql, parameters)
    else:
        db.conn.execute(sql, parameters)


class Lock(NamedTuple):
    """What a transaction locks for itself: the things of one kind with these ids, in ascending order.

    Kinds are numbered from 1. A transaction takes its locks in the order of their kinds, and takes none later.
    """

    kind: int
    ids: frozenset[int]


def checked(parameters: Parameters) -> Parameters:
    """Return the parameters of a statement unchanged, after checking that SQLite and PostgreSQL can store their texts.

    Raises:
        TextRefused: a text has NUL, which PostgreSQL cannot store, or half of a surrogate pair.
    """
    for value in parameters.values() if isinstance(parameters, Mapping) else parameters:
        if isinstance(value, str) and not is_storable(value):
            raise TextRefused.said(
                "This text has a character that cannot be stored (NUL, or half of a surrogate pair): {text}. "
                "Remove it, then try again.",
                text=value[:_SHOWN].encode("ascii", "backslashreplace").decode().replace("\0", "\\0"),
            )
    return parameters


def insert_returning_id(db: Database, sql: str, parameters: Parameters) -> int:
    """Run an `INSERT ... RETURNING` statement, and return the id of the new row."""
    ((number,),) = db.conn.execute(sql, parameters).fetchall()
    return int(number)


def like_pattern(text: str) -> str:
    """Return the pattern for `LIKE ? ESCAPE '!'` that matches every text containing this text literally.

    >>> like_pattern("50% _!")
    '%50!% !_!!%'
    """
    return "%" + "".join(f"!{sign}" if sign in "!%_" else sign for sign in text) + "%"
