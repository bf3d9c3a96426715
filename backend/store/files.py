"""Database files: copies that arrive whole or not at all, and words for what keeps them from it.

No copy holds the campaign's secret, 32 random bytes in one row; no export does, either. A move to another engine keeps
it. Opening a copy makes a new one, so a copy tells nothing about the project that it was made from.
"""

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from backend.core.atomic_output import own_folder
from backend.core.errors import ProjectError, ReelRankError, StoreUnavailable
from backend.core.file_system import make_private_file
from backend.store.engine import Database
from backend.store.sqlite import READ_ERRORS, damage, damaged, is_damage

COMPANIONS = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a database, by the end of the name."""


@contextmanager
def arriving(target: Path) -> Iterator[Path]:
    """A file to fill that becomes `target` once it is whole and on the disk; nothing is left of a failure.

    It is its owner's alone, also outside of a project: all of these hold passwords, or what people wrote.
    """
    if not target.parent.is_dir():
        raise ProjectError.said(
            "{target} cannot be written: {parent} is not a folder", target=target, parent=target.parent
        )
    with _told(target), own_folder(target) as own:
        part = own / target.name
        make_private_file(part)
        yield part
        sync(part)
        part.replace(target)
        sync(target.parent)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """A file to work on beside the database, gone afterwards (unless it went into its place).

    Its name is always the same, so that one left by a command that was killed is not kept for ever.
    """
    part = path.with_name(path.name + ".part")
    _remove(part)
    try:
        with _told(part):
            make_private_file(part)
            yield part
    finally:
        _remove(part)


@contextmanager
def _told(target: Path) -> Iterator[None]:
    """Say which file could not be written, and why, in words for a person."""
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
    """All pages of a database as they are at this instant, damaged or not, into a new file."""
    with closing(sqlite3.connect(target)) as made:
        source.backup(made)


def fold(path: Path) -> None:
    """Make a database that nobody else has open one file, without companions."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = delete")


def damage_of(path: Path) -> str | None:
    """What is wrong with a database file that nobody else has open; None if nothing is."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return damage(connection)


def free(path: Path) -> Path:
    """This name, or the next that nobody has: what was kept is never overwritten."""
    number, free = 1, path
    while os.path.lexists(free):  # a link to nowhere, too: writing would make its target
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(part: Path) -> None:
    for end in ("", *COMPANIONS):
        part.with_name(part.name + end).unlink(missing_ok=True)


SECRET_TABLE = "campaign_secret"


def read_secret(db: Database) -> bytes | None:
    """Return the campaign's secret; None where the database is a copy that was not opened yet."""
    row = db.conn.execute(f"SELECT secret FROM {SECRET_TABLE}").fetchone()
    return bytes.fromhex(row[0]) if row else None


def ensure_secret(db: Database) -> bytes:
    """Return the campaign's secret, and make it if there is none; inside a transaction that writes."""
    made = secrets.token_bytes(32)
    db.conn.execute(f"INSERT OR IGNORE INTO {SECRET_TABLE} (one, secret) VALUES (1, ?)", [made.hex()])
    return read_secret(db) or made


def remove_secret(file: Path) -> None:
    """Take the secret out of a copy of a database, its bytes included; older schemas have none.

    Raises:
        sqlite3.Error: the copy cannot be read or written.
    """
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [SECRET_TABLE]).fetchone():
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"DELETE FROM {SECRET_TABLE}")
