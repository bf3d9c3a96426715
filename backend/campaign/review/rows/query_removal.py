"""What stands in the way of taking queries back, and the removal."""

from backend.core.messages import said
from backend.store.engine import Database

_WORK = {
    said("grades"): "judgement",
    said("skips"): "skip",
    said("decisions of leads"): "adjudication",
    said("items of exams"): "exam_item",
    said("examples of the guideline"): "example",
    said("queries chosen for somebody"): "assigned_query",
    said("declined batches"): "declined_batch",
}
"""Tables in which a row is somebody's work on a pair or a query, by what people call the rows."""

_GOES = ("agenda", "seat", "pair", "batch", "candidate_source", "source", "candidate", "query")
"""Those that refer to others first."""


def work(db: Database) -> dict[str, int]:
    """How much of each kind of work there is, where there is any."""
    counts = {what: db.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for what, table in _WORK.items()}
    return {what: count for what, count in counts.items() if count}


def holding(db: Database, *, now: float) -> list[tuple[str, float]]:
    """(name, until when) of everybody who has a pair on the desk."""
    rows = db.conn.execute(
        "SELECT a.name, max(s.lease_until) FROM seat s JOIN annotator a USING (annotator_id) WHERE s.lease_until >= ? "
        "GROUP BY a.annotator_id ORDER BY a.name",
        [now],
    )
    return [(row[0], row[1]) for row in rows]


def remove(db: Database) -> tuple[int, int]:
    """Remove all queries with what hangs on them; how many candidates and pairs that were."""
    removed = {table: db.conn.execute(f"DELETE FROM {table}").rowcount for table in _GOES}
    # What only runs found for these queries is no moment of anything else, unless somebody practises on it by now.
    db.conn.execute(
        "DELETE FROM moment WHERE origin = 'pooled' AND moment_id NOT IN (SELECT moment_id FROM caption "
        "UNION SELECT moment_id FROM practice UNION SELECT moment_id FROM clip_fault)"
    )
    return removed["candidate"], removed["pair"]
