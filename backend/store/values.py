"""What a connection to PostgreSQL takes and gives: rows and values as those of SQLite's.

Truths go there and come back as the numbers 1 and 0, sums of whole numbers are whole, rows are read by place and by
name.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types.string import TextLoader

Raw = psycopg.Connection["NamedRow"]


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
    names = {column.name: place for place, column in enumerate(cursor.description or ())}
    return type("NamedRow", (NamedRow,), {"places": names})


def configure(raw: Raw) -> None:
    """What a new connection needs so that it reads and writes as SQLite does."""
    raw.adapters.register_dumper(bool, _TruthAsNumber)
    raw.adapters.register_loader("bool", _NumberFromTruth)
    raw.adapters.register_loader("numeric", _NumberFromDecimal)
    raw.adapters.register_loader("json", TextLoader)  # whoever asked reads it
    zone = os.environ.get("TZ") or _zone()
    raw.execute("SELECT set_config('TimeZone', %s, false)", [zone])


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
