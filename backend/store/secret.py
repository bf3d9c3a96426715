"""The campaign's secret: 32 random bytes in one row, which no export and no copy of the database holds.

A move to another engine keeps it. A copy has none: opening the copy makes a new one, so a copy tells nothing about the
project that it was made from.
"""

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from backend.store.engine import Database

TABLE = "campaign_secret"


def read(db: Database) -> bytes | None:
    """Return the campaign's secret; None where the database is a copy that was not opened yet."""
    row = db.conn.execute(f"SELECT secret FROM {TABLE}").fetchone()
    return bytes.fromhex(row[0]) if row else None


def ensure(db: Database) -> bytes:
    """Return the campaign's secret, and make it if there is none; inside a transaction that writes."""
    made = secrets.token_bytes(32)
    db.conn.execute(f"INSERT OR IGNORE INTO {TABLE} (one, secret) VALUES (1, ?)", [made.hex()])
    return read(db) or made


def remove(file: Path) -> None:
    """Take the secret out of a copy of a database, its bytes included; older schemas have none.

    Raises:
        sqlite3.Error: the copy cannot be read or written.
    """
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [TABLE]).fetchone():
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"DELETE FROM {TABLE}")
