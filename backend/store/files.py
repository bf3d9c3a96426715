"""Copy database files atomically, explain why a file cannot be written, and keep the campaign's secret.

The campaign's secret is 32 random bytes in one row of the database. The order of each annotator's work is derived from
it, so that nobody can predict it. Copies and exports are made without it. A copy gets a new secret when it is opened,
so it does not reveal the secret of its original. Only a move of the project to another database engine keeps the
secret.
"""

import hashlib
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from backend.core.atomic_output import own_folder
from backend.core.errors import ProjectError, ReelRankError, StoreUnavailable
from backend.core.file_system import make_private_file
from backend.store.engine import Connection, Database, SqliteDatabase
from backend.store.sqlite import READ_ERRORS, damage, damaged, is_damage

COMPANIONS = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps beside a database."""


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Provide a temporary file for a `with` block, and replace `target` by this file after the block.

    If the block fails, the temporary file is deleted and `target` stays as it was. Only the owner may read the file,
    even outside the project, because these files hold passwords or what people wrote.
    """
    if not target.parent.is_dir():
        raise ProjectError.said(
            "{target} cannot be written: {parent} is not a folder", target=target, parent=target.parent
        )
    with part_file(target) as part:
        yield part
        sync(part)
        part.replace(target)
        sync(target.parent)


@contextmanager
def part_file(path: Path) -> Iterator[Path]:
    """Provide a temporary file on the disk of a database for a `with` block, and delete the file afterwards.

    If the block renamed the file, nothing is deleted.
    """
    with _explain_errors(path), own_folder(path) as own:
        part = own / path.name
        make_private_file(part)
        yield part


@contextmanager
def _explain_errors(target: Path) -> Iterator[None]:
    """Turn errors of writing a file into messages that name the file and the reason."""
    try:
        yield
    except ReelRankError:
        raise
    except READ_ERRORS as error:
        if is_damage(error):
            raise damaged(target, str(error)) from error
        raise StoreUnavailable.said(
            "{target} cannot be written ({error}): make room or choose another place. Nothing was changed.",
            target=target,
            error=error,
        ) from error
    except OSError as error:
        raise StoreUnavailable.said(
            "{target} cannot be written ({strerror}): make room or choose another place. Nothing was changed.",
            target=target,
            strerror=error.strerror,
        ) from error


def copy(source: sqlite3.Connection, target: Path) -> None:
    """Copy all pages of a database as they are now, damaged or not, into a new file."""
    with closing(sqlite3.connect(target)) as made:
        source.backup(made)


def fold(path: Path) -> None:
    """Merge SQLite's companion files of a database, such as `-wal`, into the database file.

    Nobody else may have the database open.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = delete")


def damage_of(path: Path) -> str | None:
    """Return a description of the damage to an SQLite file, or None if it is intact. Nobody else may have it open."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return damage(connection)


def digests(connection: Connection | sqlite3.Connection, schema: SqliteDatabase) -> dict[str, tuple[int, int]]:
    """Return (number of rows, digest of all rows) for each table of `schema`, to compare two databases.

    The digest is the sum of the rows' hashes modulo 2**128, so the order of rows does not matter.
    """
    digests_by_table = {}
    for name in schema.table_names():
        if name.startswith("sqlite_"):
            continue
        columns = ", ".join(f'"{column.name}"' for column in schema.table(name).columns)
        rows, total = 0, 0
        for row in connection.execute(f'SELECT {columns} FROM "{name}"'):
            digest = hashlib.blake2b(msgspec.json.encode(list(row)), digest_size=16).digest()
            rows, total = rows + 1, (total + int.from_bytes(digest, "big")) % (1 << 128)
        digests_by_table[name] = (rows, total)
    return digests_by_table


def free(path: Path) -> Path:
    """Return this path if nothing is there, or else a numbered variant, so that nothing is overwritten."""
    number, free = 1, path
    while os.path.lexists(free):  # also true for a broken link: writing to it would create its target
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def sync(path: Path) -> None:
    """Write a file, or the entries of a folder, to the disk before returning."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


SECRET_TABLE = "campaign_secret"
NEVER_COPIED = (SECRET_TABLE, "personal_token", "webhook_delivery", "webhook")
"""Tables whose rows are in no copy of the database, because a copy must not open or replace the running project."""


def read_secret(db: Database) -> bytes | None:
    """Return the campaign's secret, random bytes that decide the order of each annotator's work.

    The result is None in a copy that has not been opened yet, because copies are made without the secret.
    """
    row = db.conn.execute(f"SELECT secret FROM {SECRET_TABLE}").fetchone()
    return bytes.fromhex(row[0]) if row else None


def ensure_secret(db: Database) -> bytes:
    """Return the campaign's secret; create it if there is none.

    It is 32 random bytes that decide the order of each annotator's work. Call this inside a transaction that writes.
    """
    secret = secrets.token_bytes(32)
    db.conn.execute(f"INSERT OR IGNORE INTO {SECRET_TABLE} (one, secret) VALUES (1, ?)", [secret.hex()])
    return read_secret(db) or secret


def remove_secrets(file: Path) -> None:
    """Delete secrets from a copy of a database, and overwrite their bytes: the campaign's secret, tokens and webhooks.

    Tables that an older copy does not have are ignored.
    """
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        for table in NEVER_COPIED:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table]).fetchone():
                connection.execute(f"DELETE FROM {table}")
