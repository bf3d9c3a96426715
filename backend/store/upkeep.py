"""Copy a database, restore a copy, and bring an older database up to date.

The new state of a project's database is built and checked in a separate file first. It then replaces the database in
one SQLite transaction (`_put`). So after an interruption at any moment the project has the old state or the new one.
"""

import fcntl
import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from backend.core.atomic_output import own_folder
from backend.core.days import done_at
from backend.core.errors import AlreadyDone, ProjectError, SchemaOutOfDate, StoreUnavailable
from backend.core.events import Event, EventGroup
from backend.core.file_system import make_private, make_private_file
from backend.core.leftovers import remove_leftovers
from backend.core.messages import said
from backend.store import events
from backend.store.address import DUMP_ENDING
from backend.store.connection import Store
from backend.store.copies import companions, keep, keep_file, same_rows
from backend.store.engine import Database, SqliteDatabase
from backend.store.files import (
    atomic_file,
    copy,
    damage_of,
    digests,
    fold,
    free,
    part_file,
    remove_secrets,
    sync,
)
from backend.store.foreign import require_known
from backend.store.schema import migrations
from backend.store.sqlite import READ_ERRORS, SqliteStore, damage, damaged, is_damage, open_store, schema_gap

ALONE_TIMEOUT_S = 2.0
"""Seconds to wait for a command that is about to end. A server does not end by itself."""

COUNTED = ("query", "pair", "judgement", "adjudication", "release")
"""Tables whose row counts people compare before and after; every schema has them."""

# (start, length) in bytes of SQLite's locks in a file; its file format fixes them.
_SHARED_LOCKS = (0x40000002, 510)
_SHM_IN_USE = (128, 1)
RESTORED = Event(
    "restored", EventGroup.RESULTS, said("restored the database from {file}; the former state is kept as {kept}")
)
"""file: the copy that was restored; kept: the file with the state before"""


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of `restore`.

    Attributes:
        kept: the file with the previous state; None if there was no database file.
        before: the number of rows of each table in `COUNTED` in the previous state; None if that was damaged or
            missing.
        after: the same numbers in the restored state.
        pending: names of the migrations that the restored database still needs.
    """

    kept: Path | None
    before: Mapping[str, int] | None
    after: Mapping[str, int]
    pending: list[str]


def backup(store: Store, target: Path) -> None:
    """Write a consistent, checked copy of the live database, while people go on working.

    Args:
        store: the database.
        target: the file to create. If its name ends with `.dump`, it is a dump by `pg_dump`; otherwise it is an SQLite
            file, whatever the database engine of the project.

    Raises:
        AlreadyDone: `target` is a backup of the database as it is now.
        ProjectError: `target` exists already (a backup never overwrites) or cannot be written. Or the database is
            damaged, or its engine has no dumps. Nothing is left behind.
        StoreUnavailable: the database cannot be reached, or `pg_dump` is not installed.
    """
    remove_leftovers([target.parent])
    if target.exists():
        if target.suffix != DUMP_ENDING:
            _refuse_if_backup(store, target)
        raise ProjectError.said(
            "{target} already exists, and a backup never overwrites a file: choose another name", target=target
        )
    with atomic_file(target) as part:
        if target.suffix == DUMP_ENDING:
            return store.dump_to(part)
        store.copy_to(part)
        fold(part)
        if wrong := damage_of(part):
            raise damaged(store.place, wrong)
        remove_secrets(part)


def _refuse_if_backup(store: Store, target: Path) -> None:
    """Raise `AlreadyDone` if a file is a backup of the database as it is now."""
    with own_folder(target) as own, suppress(sqlite3.Error):
        part = own / target.name
        make_private_file(part)
        store.copy_to(part)
        remove_secrets(part)
        with (
            closing(sqlite3.connect(f"{target.resolve().as_uri()}?mode=ro", uri=True)) as old,
            closing(SqliteDatabase(sqlite3.connect(part), execute_plugins=False)) as new,
        ):
            if digests(old, new) == digests(new.conn, new):
                raise AlreadyDone(done_at(target.stat().st_mtime, None, time.time()))


def restore(path: Path, file: Path, *, now: float) -> Restored:
    """Replace the project's database with a copy; the previous state is kept beside it.

    Args:
        path: the project's database; it may be damaged or missing.
        file: a copy made by `backup`, perhaps with an older schema.
        now: seconds since 1970.

    Raises:
        AlreadyDone: `file` was restored last, and nothing has changed since.
        ProjectError: `file` is not an intact ReelRank database, or somebody has the project open. Nothing changed.
        SchemaOutOfDate: `file` is newer than this code. Nothing changed.
    """
    if not path.parent.is_dir():
        raise ProjectError.said("{parent} is not a folder: name the project's folder", parent=path.parent)
    if not file.is_file():
        raise ProjectError.said("{file} is not a file: name a copy made by `reelrank backup`", file=file)
    if path.exists() and file.samefile(path):
        raise ProjectError.said(
            "{file} is the project's database itself: name a copy made by `reelrank backup`", file=file
        )
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")
    old_file = free(path.with_name(f"{path.stem}.before-restore-{moment}.db")) if path.exists() else None
    with part_file(path) as part:
        for companion in ("", "-wal"):  # a live file copied by hand comes with a -wal
            if (source := file.with_name(file.name + companion)).exists():
                shutil.copyfile(source, part.with_name(part.name + companion))
                make_private(part.with_name(part.name + companion))
        pending = _require_ours(part, file)
        remove_secrets(part)  # a file copied by hand has them, and anybody with that file knows them
        present = alone(path)
        if present is None:
            _require_unused(path)
            kept = keep_file(path, old_file) if old_file else None
            after = _record_restored(part, file, kept, now)
            _replace_file(path, part)
            return Restored(kept, None, after, pending)
        with closing(present):
            before = _counts(present)
            if not pending:
                _refuse_if_restored(present, part, file, now)
            kept = keep(present, old_file) if old_file else None
            after = _record_restored(part, file, kept, now)
            _put(part, present)
    return Restored(kept, before, after, pending)


def _refuse_if_restored(present: sqlite3.Connection, part: Path, file: Path, now: float) -> None:
    """Raise `AlreadyDone` if `file` was restored last, and nothing has changed since."""
    with suppress(*READ_ERRORS):
        last = present.execute(
            "SELECT at, payload FROM event WHERE kind = ? ORDER BY event_id DESC LIMIT 1", [RESTORED.kind]
        ).fetchone()
        if last and json.loads(last[1])["file"] == file.name and same_rows(present, part, but_events=RESTORED.kind):
            raise AlreadyDone(done_at(last[0], None, now))


def _record_restored(part: Path, file: Path, kept: Path | None, now: float) -> dict[str, int]:
    """Write into the new state what it was restored from; return its counts."""
    with closing(sqlite3.connect(part, isolation_level=None)) as new:
        payload = {"file": file.name, "kept": kept.name if kept else None}
        events.record(SqliteDatabase(new), RESTORED, at=now, actor=None, subject="project", payload=payload)
        return _counts(new) or {}


def migrate(path: Path, *, derive: Callable[[Database], None]) -> tuple[list[str], Path | None]:
    """Bring an older database up to date; a copy of the old state is kept beside it.

    Args:
        path: the project's database.
        derive: called after the migrations to rebuild the tables that are derived from others.

    Returns:
        (names of the migrations applied now, file with the old state). The file is None if the database was up to date.

    Raises:
        ProjectError: the file is no database, is damaged, or somebody has the project open. Nothing changed.
        SchemaOutOfDate: the database is newer than this code.
    """
    if not path.is_file():
        raise ProjectError.said(
            "{parent} is not a project (no {name}): run `reelrank init {parent}`", parent=path.parent, name=path.name
        )
    store = SqliteStore(path)
    try:
        unknown, pending = schema_gap(store)
        if not unknown:
            require_known(store.db.conn, path)
    finally:
        store.close()
    if not pending:
        open_store(path).close()  # refuses a newer schema
        return [], None
    present = alone(path)
    if present is None:
        raise damaged(path, "SQLite cannot read it")
    old_file = free(path.with_name(f"{path.stem}.before-{pending[0]}.db"))
    with closing(present), part_file(path) as part:
        if wrong := damage(present):
            raise damaged(path, wrong)
        old_file = keep(present, old_file)
        copy(present, part)
        upgrade(part, derive)
        _put(part, present)
    return pending, old_file


def upgrade(part: Path, derive: Callable[[Database], None]) -> None:
    """Apply the pending migrations to a file that nobody else has open.

    Then call `derive` to rebuild the tables that are derived from others.
    """
    store = SqliteStore(part)
    try:
        migrations.apply(store.db)
        with store.writing() as db:
            derive(db)
    finally:
        store.close()
    fold(part)


def _put(part: Path, present: sqlite3.Connection) -> None:
    """Replace the contents of the database with those of `part`, in one transaction.

    The file is not replaced by renaming `part`: a process that waits for the lock would go on using the old file, with
    the new file's log.
    """
    if wrong := damage_of(part):
        raise damaged(part, wrong)
    with closing(sqlite3.connect(part)) as new:
        new.backup(present)


def alone(path: Path) -> sqlite3.Connection | None:
    """Open a database file with an exclusive lock; return None if it is missing or SQLite cannot read it.

    Raises:
        ProjectError: somebody has the database open.
    """
    if not path.is_file():
        return None
    connection = sqlite3.connect(path, timeout=ALONE_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("PRAGMA locking_mode = exclusive")
        # Any other open connection in WAL mode, even an idle one, holds a lock that makes this fail.
        connection.execute("PRAGMA journal_mode = delete")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")
    except READ_ERRORS as error:
        connection.close()
        if is_damage(error):
            return None
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
            raise _in_use(path) from error
        raise ProjectError.said(
            "{path} cannot be opened ({error}): check the folder and the disk", path=path, error=error
        ) from error
    return connection


def _require_unused(path: Path) -> None:
    if _in_use_by_lock(path, *_SHARED_LOCKS) or _in_use_by_lock(companions(path)[1], *_SHM_IN_USE):
        raise _in_use(path)


def _replace_file(path: Path, part: Path) -> None:
    """Replace an unreadable database file by `part`."""
    _require_unused(path)
    for file in companions(path):
        file.unlink(missing_ok=True)  # first, or SQLite would apply them to the new file
    sync(part)
    part.replace(path)
    sync(path.parent)


def _in_use_by_lock(file: Path, start: int, length: int) -> bool:
    """Return whether another process has locked any of `length` bytes of a file, from the byte `start` on.

    SQLite marks a database as in use by locking certain bytes of its files.
    """
    if not file.exists():
        return False
    with file.open("r+b") as handle:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)
        except OSError:
            return True
    return False


def _in_use(path: Path) -> ProjectError:
    return StoreUnavailable.said(
        "The project {parent} is in use: stop its server and every other ReelRank command, then try again. "
        "Nothing was changed.",
        parent=path.parent,
    )


def _require_ours(part: Path, file: Path) -> list[str]:
    """Return the names of the migrations that a copy still needs; refuse it if it is not an intact ReelRank database.

    Args:
        part: a copy of `file` to examine.
        file: the file that the person named, for messages.
    """
    if wrong := damage_of(part):
        raise ProjectError.said(
            "{file} is not an intact database ({wrong}): name another copy. Nothing was changed.",
            file=file,
            wrong=wrong,
        )
    store = SqliteStore(part)
    try:
        unknown, pending = schema_gap(store)
        if not unknown:
            require_known(store.db.conn, file)
        applied = migrations.applied(store.db)
    finally:
        store.close()
    fold(part)
    if not applied:
        raise ProjectError.said("{file} is not a ReelRank database: name a copy made by `reelrank backup`", file=file)
    if unknown:
        raise SchemaOutOfDate.said(
            "{file} was written by a newer ReelRank: update ReelRank first. Nothing was changed.", file=file
        )
    return pending


def _counts(connection: sqlite3.Connection) -> dict[str, int] | None:
    """Return the number of rows of each table in `COUNTED`; None if they cannot be read."""
    try:
        return {table: connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table in COUNTED}
    except READ_ERRORS:
        return None
