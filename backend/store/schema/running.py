"""How a migration is written down and run."""

from collections.abc import Iterable

from backend.store.engine import Database, Migrations

migrations = Migrations("reelrank")


def forbid_changes(db: Database, tables: Iterable[str]) -> None:
    """Let rows of these tables be added only."""
    for table in tables:
        for action in ("UPDATE", "DELETE"):
            db.conn.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def run(db: Database, script: str) -> None:
    """Statement by statement: `executescript` would end the transaction around it."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)
