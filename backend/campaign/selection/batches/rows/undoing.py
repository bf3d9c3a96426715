"""What stands in the way of taking an opened batch back, and the taking back."""

from collections import defaultdict

from backend.campaign.selection.candidates.rows import agenda
from backend.core.ids import AnnotatorId, BatchId, PairId, QueryId
from backend.core.messages import said
from backend.store.engine import Database

_WORK = {
    said("grade"): ("judgement", "graded_at"),
    said("skip"): ("skip", "skipped_at"),
    said("decision of a lead"): ("adjudication", "decided_at"),
    said("item of an exam or trial"): (
        "exam_item",
        "(SELECT e.set_at FROM exam e WHERE e.exam_id = exam_item.exam_id)",
    ),
    said("example of the guideline"): ("example", "chosen_at"),
}
"""Tables in which a row is somebody's work on a pair, with its time, by what people call one."""

_PAIRS = "(SELECT pair_id FROM pair WHERE batch_id = :batch)"


def work(db: Database, batch_id: BatchId, *, since: float) -> dict[str, int]:
    """How much of each kind of work there is on a batch's pairs after an instant, where there is any."""
    values = {"batch": batch_id, "since": since}
    counts = {
        what: db.conn.execute(
            f"SELECT count(*) FROM {table} WHERE pair_id IN {_PAIRS} AND {at} > :since", values
        ).fetchone()[0]
        for what, (table, at) in _WORK.items()
    }
    return {what: count for what, count in counts.items() if count}


def logged(db: Database, batch_id: BatchId, *, since: float) -> bool:
    """Whether the event log tells of one of a batch's pairs, such as a grade that was refused."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM pair p JOIN event e ON e.subject = 'pair:' || p.pair_id "
        "WHERE p.batch_id = :batch AND e.at >= :since)",
        {"batch": batch_id, "since": since},
    ).fetchone()
    return bool(row[0])


def released(db: Database, *, since: float) -> bool:
    """Whether a release was made since an instant: it lists every pair by its number."""
    row = db.conn.execute('SELECT EXISTS (SELECT 1 FROM "release" WHERE created_at >= ?)', [since]).fetchone()
    return bool(row[0])


def shown_to(db: Database, batch_id: BatchId, *, since: float) -> list[str]:
    """Names of everybody who has, or had when their lease ran out, a pair of a batch on the screen."""
    rows = db.conn.execute(
        "SELECT DISTINCT a.name FROM seat s JOIN annotator a USING (annotator_id) "
        f"WHERE s.pair_id IN {_PAIRS} AND s.lease_until IS NOT NULL AND s.shown_at > :since ORDER BY a.name",
        {"batch": batch_id, "since": since},
    )
    return [row[0] for row in rows]


def held(db: Database, batch_id: BatchId) -> dict[AnnotatorId, list[PairId]]:
    """The pairs of a batch that lie ahead on somebody's desk, by person."""
    found: dict[AnnotatorId, list[PairId]] = defaultdict(list)
    for row in db.conn.execute(
        f"SELECT annotator_id, pair_id FROM seat WHERE pair_id IN {_PAIRS} AND lease_until IS NOT NULL "
        "ORDER BY annotator_id, claim_no",
        {"batch": batch_id},
    ):
        found[AnnotatorId(row[0])].append(PairId(row[1]))
    return found


def probe(db: Database, query_id: QueryId) -> BatchId | None:
    """The probe of a query, from which each of its further batches took its pairs over: they are of the top 60."""
    row = db.conn.execute("SELECT batch_id FROM batch WHERE query_id = ? AND number IS NULL", [query_id]).fetchone()
    return BatchId(row[0]) if row else None


def remove(db: Database, batch_id: BatchId, probe_id: BatchId | None) -> int:
    """Remove a batch with its pairs and seats, or give its pairs back to the query's probe; how many pairs it had."""
    db.conn.execute("DELETE FROM agenda WHERE batch_id = ?", [batch_id])
    if probe_id is None:
        db.conn.execute(f"DELETE FROM seat WHERE pair_id IN {_PAIRS}", {"batch": batch_id})
        pairs = db.conn.execute("DELETE FROM pair WHERE batch_id = ?", [batch_id]).rowcount
    else:
        pairs = db.conn.execute("UPDATE pair SET batch_id = ? WHERE batch_id = ?", [probe_id, batch_id]).rowcount
        agenda.refresh(db, probe_id)
    db.conn.execute("DELETE FROM batch WHERE batch_id = ?", [batch_id])
    return pairs
