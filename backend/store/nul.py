"""Texts with NUL in a database of SQLite's, which earlier releases took and PostgreSQL does not keep."""

import re
from collections.abc import Iterator

from backend.core.typed_text import has_nul_escape
from backend.store.engine import SqliteDatabase

_JSON = re.compile(r"json_valid\((\w+)\)")


def texts_with_nul(db: SqliteDatabase) -> Iterator[str]:
    """Where each such text is: table, row and column."""
    for table in db.tables:
        json = set(_JSON.findall(table.schema))
        keys = ", ".join(f'"{key}"' for key in table.pks)
        for column in (column.name for column in table.columns if column.type == "TEXT"):
            rows = db.conn.execute(
                f'SELECT "{column}", {keys} FROM "{table.name}" '
                f'WHERE instr("{column}", char(0)) > 0 OR (? AND instr("{column}", \'\\u0000\') > 0)',
                [column in json],
            )
            for text, *key in rows:
                if "\0" in text or has_nul_escape(text):
                    yield f"table {table.name}, row {', '.join(map(str, key))}, column {column}"
