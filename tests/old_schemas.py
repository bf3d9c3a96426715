"""Projects with the schema of an earlier release, in a file or in PostgreSQL."""

import sqlite3
from contextlib import closing
from pathlib import Path

from backend.campaign.setup.project import settings_file
from backend.store import creating, sqlite
from backend.store.definitions import parts
from backend.store.engine import SqliteDatabase
from backend.store.schema import migrations

NAMES = [migration.name for migration in migrations._migrations]


def to_postgresql(folder: Path, address: str) -> None:
    """Bring the database of a project to a server as it is, whatever its schema."""
    file = folder / "reelrank.db"
    with closing(SqliteDatabase(sqlite3.connect(file), execute_plugins=False)) as source:
        creating.create_from(address, source).close()
    for left in folder.glob("reelrank.db*"):
        left.unlink()
    settings_file.set_database(folder, address)


def lower(file: Path, before: str) -> None:
    """Give a database of the present schema that of before a migration, with all rows that fit into it."""
    low = file.with_suffix(".low")
    with closing(sqlite.fresh(before)) as old, closing(sqlite3.connect(low)) as target:
        target.execute("ATTACH ? AS present", [str(file)])
        present = {row[0] for row in target.execute("SELECT name FROM present.sqlite_master")}
        for kind in ("table", "index", "view", "trigger"):
            for name, statement in parts(old, kind):
                target.execute(statement)
                if kind == "table" and name in present:
                    columns = ", ".join(f'"{column.name}"' for column in old.table(name).columns)
                    target.execute(f'INSERT INTO "{name}" ({columns}) SELECT {columns} FROM present."{name}"')
        target.execute("DELETE FROM _sqlite_migrations WHERE name >= ?", [before])
        target.commit()
    for left in (file.with_name(file.name + end) for end in ("-wal", "-shm")):
        left.unlink(missing_ok=True)
    low.replace(file)
