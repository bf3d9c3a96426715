"""The library that speaks to SQLite, without what it would load beside it.

sqlite-utils imports pandas and numpy if they are installed, to know the types of their columns when it makes a table
by itself. No table of ours is made that way, and pandas costs every command 0.2 s and 75 MB. Everybody takes the
library from here, so that it is loaded in one way.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType


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
    from sqlite_utils import Database as Database
    from sqlite_utils import Migrations as Migrations


def containing(text: str) -> str:
    """The pattern of `LIKE ? ESCAPE '!'` for whatever holds this text, sign by sign.

    >>> containing("50% _!")
    '%50!% !_!!%'
    """
    return "%" + "".join(f"!{sign}" if sign in "!%_" else sign for sign in text) + "%"
