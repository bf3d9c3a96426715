"""Run migrations, and record that they ran."""

from collections.abc import Callable, Iterable, Mapping

from backend.core.errors import ProjectError
from backend.store.engine import Migrations, SqliteDatabase

migrations = Migrations("reelrank")


def forbid_changes(db: SqliteDatabase, tables: Iterable[str]) -> None:
    """Let rows of these tables be added only."""
    for table in tables:
        for action in ("UPDATE", "DELETE"):
            db.conn.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def run(db: SqliteDatabase, script: str) -> None:
    """Statement by statement: `executescript` would end the transaction around it."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)


def remake(db: SqliteDatabase, tables: Mapping[str, str], then: Callable[[], None]) -> None:
    """Make tables anew with their rows, because SQLite cannot loosen a constraint in place; for `transactional=False`.

    Tables can be made anew only while nothing looks at the references to them, and that cannot be switched inside a
    transaction. So the transaction is ours, and a migration that uses this must find out whether it ran already: it
    may be cut off before it was noted down.

    Args:
        db: the database.
        tables: `CREATE TABLE {}` with all columns of the table that is there, by its name.
        then: makes indexes and triggers, which go with the old tables, in the same transaction.

    Raises:
        ProjectError: rows point to rows that do not exist.
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
