"""Move a project's database from its file into PostgreSQL, and back: every row, compared, or nothing.

Nobody may have it open meanwhile. What was the database stays where it was: the file under another name, the tables in
PostgreSQL as they are.
"""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from backend.core.errors import ProjectError, StoreUnavailable
from backend.core.messages import said
from backend.store import creating, postgresql, upkeep
from backend.store.definitions import table_names
from backend.store.engine import Connection, SqliteDatabase
from backend.store.files import arriving, beside, copy, damage_of, fold, free, remove_secret
from backend.store.foreign import require_known, texts_with_nul
from backend.store.sqlite import damaged

WITHOUT_NUL = said(
    "make a new project from the same files without NUL (`import` names file and row), or go on with the file"
)
_SHOWN = 5


def into_postgresql(path: Path, address: str, then: Callable[[], None], *, now: float) -> tuple[dict[str, int], Path]:
    """Bring the database in a file to an address.

    Args:
        path: the project's database.
        address: an empty database of PostgreSQL.
        then: notes down where the database is from now on.
        now: seconds since 1970.

    Returns:
        Rows by table, and where the file lies now.

    Raises:
        ProjectError: somebody has the project open, or there are tables at the address. Nothing changed.
        StoreUnavailable: the file is damaged, or the address cannot be reached. Nothing changed.
    """
    present = upkeep.alone(path)
    if present is None:
        raise damaged(path, "SQLite cannot read it")
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d-%H%M%S")
    kept = free(path.with_name(f"{path.stem}.before-move-{moment}.db"))
    with closing(present), beside(path) as part:
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
            there = digests(source.conn, source)
            store = creating.create_from(address, source, lambda moved: _compare(there, digests(moved, source)))
            store.close()
        then()
        path.replace(kept)
    remove_secret(kept)
    return {name: rows for name, (rows, _) in there.items()}, kept


def into_file(address: str, path: Path, then: Callable[[], None]) -> dict[str, int]:
    """Bring the database at an address back into a file.

    Args:
        address: where the project's database is.
        path: the file to make.
        then: notes down where the database is from now on.

    Returns:
        Rows by table.

    Raises:
        ProjectError: somebody has the project open, or there is a file. Nothing changed.
    """
    if path.exists():
        raise ProjectError(f"{path} already exists: move it away, because it may be somebody's work")
    store = postgresql.open_store(address, path.parent)
    try:
        if others := store.others():
            raise StoreUnavailable(
                f"The project at {store.place} is in use ({others} connections): stop its servers and every other "
                "ReelRank command, then try again. Nothing was changed."
            )
        with store.writing() as db:  # until it is noted down that the file is the database nobody else writes
            with arriving(path) as part:
                store.copy_to(part)
                with closing(SqliteDatabase(sqlite3.connect(part), execute_plugins=False)) as copied:
                    there = digests(db.conn, copied)
                    _compare(there, digests(copied.conn, copied))
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
    return {name: rows for name, (rows, _) in there.items()}


def digests(connection: Connection | sqlite3.Connection, schema: SqliteDatabase) -> dict[str, tuple[int, int]]:
    """Rows, and a sum of their hashes whatever their order, of each table that `schema` has."""
    found = {}
    for name in table_names(schema):
        columns = ", ".join(f'"{column.name}"' for column in schema.table(name).columns)
        rows, total = 0, 0
        for row in connection.execute(f'SELECT {columns} FROM "{name}"'):
            digest = hashlib.blake2b(msgspec.json.encode(list(row)), digest_size=16).digest()
            rows, total = rows + 1, (total + int.from_bytes(digest, "big")) % (1 << 128)
        found[name] = (rows, total)
    return found


def _compare(there: dict[str, tuple[int, int]], here: dict[str, tuple[int, int]]) -> None:
    wrong = [name for name, digest in there.items() if here.get(name) != digest]
    if wrong:
        raise ProjectError(f"{', '.join(wrong)} did not arrive unchanged: the move was undone, and nothing was changed")
