"""The library that speaks to SQLite, without what it would load beside it.

sqlite-utils imports pandas and numpy if they are installed, to know the types of their columns when it makes a table
by itself. No table of ours is made that way, and pandas costs every command 0.2 s and 75 MB. Everybody takes the
library from here, so that it is loaded in one way.
"""

import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any, Protocol

from backend.core.errors import TextRefused
from backend.core.typed_text import is_storable


class _Absent(MetaPathFinder):
    """Modules that one thread does not find; other threads import them meanwhile as ever."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /) -> None:
        """Refuse the module, or leave it to the other finders; one that is loaded already is never asked for."""
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is not needed here", name=fullname)


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """Imports that do without these modules, as if they were not installed."""
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
    """What a statement gives: rows that are read by place and by name, and how many it changed."""

    @property
    def rowcount(self) -> int:
        """How many rows a statement has added, changed or taken away."""

    def fetchone(self) -> Any:
        """The next row; None after the last."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Any]:
        """Row after row."""


class Connection(Protocol):
    """What runs statements of either engine; see `dialect` for what may stand in them."""

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is inside one."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor:
        """Run one statement, with values by place or by name."""

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor:
        """Run one statement for each of many values."""


class Database(Protocol):
    """A connection, and transactions inside of transactions."""

    @property
    def conn(self) -> Connection:
        """What runs statements."""

    def atomic(self) -> AbstractContextManager[Any]:
        """What is undone as one if it fails, inside of a larger transaction."""


def checked(parameters: Parameters) -> Parameters:
    """The values of a statement, whichever engine runs it.

    Raises:
        TextRefused: a text has NUL, which PostgreSQL does not keep, or half of a surrogate pair.
    """
    for value in parameters.values() if isinstance(parameters, Mapping) else parameters:
        if isinstance(value, str) and not is_storable(value):
            raise TextRefused.said(
                "This text has a character that cannot be stored (NUL, or half of a surrogate pair): {text}. "
                "Remove it, then try again.",
                text=value[:_SHOWN].encode("ascii", "backslashreplace").decode().replace("\0", "\\0"),
            )
    return parameters


def added(db: Database, sql: str, parameters: Parameters) -> int:
    """The number of the row that an INSERT with RETURNING adds."""
    ((number,),) = db.conn.execute(sql, parameters).fetchall()
    return int(number)


def containing(text: str) -> str:
    """The pattern of `LIKE ? ESCAPE '!'` for whatever holds this text, sign by sign.

    >>> containing("50% _!")
    '%50!% !_!!%'
    """
    return "%" + "".join(f"!{sign}" if sign in "!%_" else sign for sign in text) + "%"
