"""What a connection to PostgreSQL takes and gives: rows and values as those of SQLite's.

Truths go there and come back as the numbers 1 and 0, sums of whole numbers are whole, rows are read by place and by
name.
"""

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import ClientCursor
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper, TextLoader

from backend.store.engine import Parameters

Raw = psycopg.Connection["NamedRow"]
ONCE = 1
"""A statement that has run so often before is kept."""
STATEMENTS = 1000
"""Kept by a connection: more than there are."""


class NamedRow(tuple[Any, ...]):
    """A row that is read by place and by name."""

    places: Mapping[str, int]

    def __getitem__(self, key: Any) -> Any:
        """By place, a slice, or a name."""
        return super().__getitem__(self.places[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        """The names, in order."""
        return list(self.places)


def named_rows(cursor: Any) -> Callable[[Any], NamedRow]:
    """The row factory of our connections."""
    return _rows_of(tuple(column.name for column in cursor.description or ()))


@lru_cache(maxsize=4096)
def _rows_of(names: tuple[str, ...]) -> type[NamedRow]:
    return type("NamedRow", (NamedRow,), {"places": {name: place for place, name in enumerate(names)}})


def cursor_for(raw: Raw, parameters: Parameters) -> "psycopg.Cursor[NamedRow]":
    """What runs a statement with these values.

    The server keeps a statement that comes again and plans it once, which takes longer than to run it. It has to know
    of what type each value is: what is not there has none, and is written into the statement instead.
    """
    given = parameters.values() if isinstance(parameters, Mapping) else parameters
    return ClientCursor(raw) if any(one is None for one in given) else raw.cursor()


def configure(raw: Raw) -> None:
    """What a new connection needs so that it reads and writes as SQLite does."""
    raw.prepare_threshold = ONCE
    raw.prepared_max = STATEMENTS
    raw.adapters.register_dumper(bool, _TruthAsNumber)
    raw.adapters.register_dumper(int, Int8Dumper)  # one type whatever its size: one statement to keep
    raw.adapters.register_dumper(str, StrDumper)  # a text, and not of a type to be guessed
    raw.adapters.register_loader("bool", _NumberFromTruth)
    raw.adapters.register_loader("numeric", _NumberFromDecimal)
    raw.adapters.register_loader("json", TextLoader)  # whoever asked reads it
    zone = os.environ.get("TZ") or _zone()
    # Nor is a statement compiled: where the planner knows nothing of tables yet, that takes a second for one of 1 ms.
    raw.execute("SELECT set_config('TimeZone', %s, false), set_config('jit', 'off', false)", [zone])


def _zone() -> str:
    place = os.path.realpath("/etc/localtime")
    return place.partition("zoneinfo/")[2] or "UTC"


class _TruthAsNumber(Dumper):
    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _NumberFromTruth(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class _NumberFromDecimal(Loader):
    """Sums of whole numbers are whole, means are not."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)
