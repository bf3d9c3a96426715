"""The campaign's secret: 32 random bytes in one row, which no export and no copy of the database holds.

A move to another engine keeps it. A copy has none: opening the copy makes a new one, so a copy tells nothing about the
project that it was made from.
"""

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from backend.store.engine import Database

if TYPE_CHECKING:
    from backend.store.connection import Store

TABLE = "campaign_secret"
_READ = f"SELECT secret FROM {TABLE}"


def secret_of(store: "Store") -> bytes:
    """Return the campaign's secret, and make it if the database has none yet.

    Raises:
        StoreUnavailable: there is none, and the database cannot be written.
    """
    row = store.db.conn.execute(_READ).fetchone()
    if row is None:
        with store.writing() as db:
            ensure(db)
        row = store.db.conn.execute(_READ).fetchone()
    return bytes.fromhex(row[0])


def ensure(db: Database) -> None:
    """Make the secret of a database that has none, inside a transaction."""
    db.conn.execute(f"INSERT OR IGNORE INTO {TABLE} (one, secret) VALUES (1, ?)", [secrets.token_hex(32)])


def remove(file: Path) -> None:
    """Take the secret out of a copy of a database, its bytes included; older schemas have none.

    Raises:
        sqlite3.Error: the copy cannot be read or written.
    """
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [TABLE]).fetchone():
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"DELETE FROM {TABLE}")
