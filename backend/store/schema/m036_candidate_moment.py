"""Index candidates by moment. Without the index, finding out whether a moment is a candidate reads all candidates."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

BY_MOMENT = "CREATE INDEX candidate_moment ON candidate (moment_id)"


@migrations()
def m036_candidate_moment(db: SqliteDatabase) -> None:
    """Index candidates by moment."""
    run(db, BY_MOMENT)
