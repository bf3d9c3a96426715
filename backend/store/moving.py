"""Move a project's database from its file into PostgreSQL, or back, and compare all rows.

If any row differs, the move is undone. Nobody may have the database open meanwhile. The original is kept: a file gets
another name, and tables in PostgreSQL stay as they are.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from backend.core.errors import ProjectError, ReelRankError, StoreUnavailable
from backend.core.messages import said
from backend.store import creating, opening, sqlite, upkeep
from backend.store.engine import SqliteDatabase
from backend.store.files import atomic_file, copy, damage_of, digests, fold, free, part_file, remove_secrets
from backend.store.foreign import require_known, texts_with_nul
from backend.store.sqlite import READ_ERRORS, damaged

WITHOUT_NUL = said(
    "make a new project from the same files without NUL (`import` names file and row), or go on with the file"
)
_SHOWN = 5


def into_postgresql(path: Path, address: str, then: Callable[[], None], *, now: float) -> tuple[dict[str, int], Path]:
    """Move a project's database from its file into an empty PostgreSQL database.

    Args:
        path: the database file of the project.
        address: the address of the empty database.
        then: called once the copy is complete and checked, to record where the database is now.
        now: seconds since 1970.

    Returns:
        (number of rows by table, new path of the old file).

    Raises:
        ProjectError: somebody has the project open, the address has tables, or a text has a NUL character. Nothing
            changed.
        StoreUnavailable: the file is damaged, or the address cannot be reached. Nothing changed.
    """
    present = upkeep.alone(path)
    if present is None:
        raise damaged(path, "SQLite cannot read it")
    with closing(present), part_file(path) as part:
        copy(present, part)
        if wrong := damage_of(part):
            raise damaged(path, wrong)
        with closing(SqliteDatabase(sqlite3.connect(part), execute_plugins=False)) as source:
            require_known(source.conn, path)
            if nul := list(texts_with_nul(source)):
                raise ProjectError.said(
                    "PostgreSQL cannot store the NUL character, which {n} texts contain ({first}): {advice}. "
                    "Nothing was changed.",
                    n=len(nul),
                    first="; ".join(nul[:_SHOWN]) + (" ..." if len(nul) > _SHOWN else ""),
                    advice=WITHOUT_NUL,
                )
            expected = digests(source.conn, source)
            if not _arrived(address, path, source, expected):
                store = creating.create_from(
                    address, source, lambda moved: require_same(expected, digests(moved, source))
                )
                store.close()
        then()
    return {name: rows for name, (rows, _) in expected.items()}, _put_aside(path, now)


def _arrived(address: str, path: Path, source: SqliteDatabase, expected: dict[str, tuple[int, int]]) -> bool:
    """Return whether a move that was killed has brought all rows there, and nobody has used them since."""
    try:
        store = opening.open_store(address, path.parent)
    except ReelRankError:  # no project, or one that `create_from` refuses with the reason
        return False
    try:
        return not store.others() and digests(store.conn, source) == expected
    finally:
        store.close()


def finish(path: Path, *, now: float) -> tuple[dict[str, int], Path]:
    """Give the old file its new name after a move that was killed just before; returns what `into_postgresql` does.

    Raises:
        StoreUnavailable: somebody has the file open, or it is damaged. Nothing changed.
    """
    present = upkeep.alone(path)
    if present is None:
        raise damaged(path, "SQLite cannot read it")
    with closing(SqliteDatabase(present, execute_plugins=False)) as source:
        rows = {name: rows for name, (rows, _) in digests(present, source).items()}
    return rows, _put_aside(path, now)


def _put_aside(path: Path, now: float) -> Path:
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")
    old_file = free(path.with_name(f"{path.stem}.before-move-{moment}.db"))
    path.replace(old_file)
    remove_secrets(old_file)
    return old_file


def into_file(address: str, path: Path, then: Callable[[], None]) -> dict[str, int]:
    """Move a project's database from PostgreSQL back into a file, and return the number of rows by table.

    A file with the same rows is taken as it is: a move was killed before it could record where the database is.

    Args:
        address: the address of the project's database.
        path: the file to create.
        then: called once the copy is complete and checked, to record where the database is now.

    Raises:
        ProjectError: somebody has the project open, or the file exists and differs. Nothing changed.
    """
    is_there = path.exists()
    store = opening.open_store(address, path.parent)
    try:
        if connections := store.others():
            raise StoreUnavailable(
                f"The project at {store.place} is in use ({connections} connections): stop its servers and every other "
                "ReelRank command, then try again. Nothing was changed."
            )
        with store.writing() as db:  # keeps others from writing until the new location is recorded
            with closing(sqlite.fresh()) as schema:
                expected = digests(db.conn, schema)
            if is_there:
                _require_complete(path, expected)
                then()
            else:
                with atomic_file(path) as part:
                    store.copy_to(part)
                    require_same(expected, _digests_in(part))
                    fold(part)
                    if wrong := damage_of(part):
                        raise damaged(part, wrong)
                try:
                    then()
                except BaseException:
                    path.unlink()
                    raise
    finally:
        store.close()
    return {name: rows for name, (rows, _) in expected.items()}


def _digests_in(file: Path) -> dict[str, tuple[int, int]]:
    with closing(SqliteDatabase(sqlite3.connect(file), execute_plugins=False)) as copied:
        return digests(copied.conn, copied)


def _require_complete(path: Path, expected: dict[str, tuple[int, int]]) -> None:
    with suppress(*READ_ERRORS):
        if not damage_of(path) and _digests_in(path) == expected:
            return
    raise ProjectError(f"{path} already exists: move it away, because it may be somebody's work")


def require_same(expected: dict[str, tuple[int, int]], copied: dict[str, tuple[int, int]]) -> None:
    """Raise `ProjectError` unless both have the same `digests` of every table."""
    wrong = [name for name, digest in expected.items() if copied.get(name) != digest]
    if wrong:
        raise ProjectError(f"{', '.join(wrong)} did not arrive unchanged: all was undone, and nothing was changed")
