"""The registry of migrations, and helpers with which migrations change tables."""

from collections.abc import Callable, Iterable, Mapping

from backend.core.errors import ProjectError
from backend.store.engine import Migrations, SqliteDatabase

migrations = Migrations("reelrank")


def forbid_changes(db: SqliteDatabase, tables: Iterable[str]) -> None:
    """Create triggers that refuse updates and deletions in these tables, so that they are append-only."""
    for table in tables:
        for action in ("UPDATE", "DELETE"):
            db.conn.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def run(db: SqliteDatabase, script: str) -> None:
    """Run a script statement by statement, because `executescript` would end the surrounding transaction."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)


def remake(db: SqliteDatabase, tables: Mapping[str, str], then: Callable[[], None]) -> None:
    """Recreate tables with their rows, to loosen constraints, which SQLite cannot do in place.

    Recreating a table needs foreign keys switched off, which cannot be done inside a transaction. So declare the
    migration with `transactional=False`; this function opens its own transaction. The migration must check whether it
    ran already, because it may be interrupted before it is recorded as applied.

    Args:
        db: the database.
        tables: maps each table's name to its `CREATE TABLE {}` statement, which has all columns of the present table.
        then: called in the same transaction to recreate indexes and triggers, which are dropped with the old tables.

    Raises:
        ProjectError: the database has broken foreign keys.
    """
    db.conn.execute("PRAGMA foreign_keys = 0")
    try:
        with db.atomic():
            for table, create in tables.items():
                columns = ", ".join(column.name for column in db.table(table).columns)
                db.conn.execute(create.format(f"{table}_new"))
                db.conn.execute(f"INSERT INTO {table}_new ({columns}) SELECT {columns} FROM {table}")
                db.conn.execute(f"DROP TABLE {table}")
                db.conn.execute(f"ALTER TABLE {table}_new RENAME TO {table}")
            then()
            if broken := db.conn.execute("PRAGMA foreign_key_check").fetchall():
                raise ProjectError(f"{len(broken)} rows point to rows that do not exist: restore an intact backup")
    finally:
        db.conn.execute("PRAGMA foreign_keys = 1")
