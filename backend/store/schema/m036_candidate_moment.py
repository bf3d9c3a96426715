"""Candidates are found by their moment: whether a moment is used took a look at all of them."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

BY_MOMENT = "CREATE INDEX candidate_moment ON candidate (moment_id)"


@migrations()
def m036_candidate_moment(db: SqliteDatabase) -> None:
    """Candidates are found by their moment."""
    run(db, BY_MOMENT)
