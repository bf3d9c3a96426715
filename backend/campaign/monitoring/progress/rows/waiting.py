"""Count what waits for a lead. Reads only; each count is a range of an index, or a walk over few rows."""

from backend.campaign.selection.candidates.rows.lists import STILL_LISTED
from backend.core.ids import AnnotatorId
from backend.store.engine import Database

_OPEN = "coalesce(c.verdict, 'escalated') = 'escalated'"


def discarded(db: Database) -> int:
    """Count the pairs on which people disagree for good, and that no lead has adjudicated or confirmed."""
    return _count(
        db,
        "SELECT count(*) FROM consensus WHERE verdict = 'discarded' "
        "AND pair_id NOT IN (SELECT pair_id FROM confirmed_discard)",
    )


def notes(db: Database) -> int:
    """Count the current notes that nobody replied to."""
    return _count(
        db,
        "SELECT count(*) FROM standing_note n WHERE NOT EXISTS "
        "(SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id)",
    )


def skipped(db: Database) -> int:
    """Count the pairs that are not settled and that somebody skips; blocked ones are counted as those."""
    return _count(
        db,
        "SELECT count(DISTINCT k.pair_id) FROM skip k JOIN pair p USING (pair_id) LEFT JOIN consensus c USING (pair_id)"
        f" WHERE k.lifted_at IS NULL AND {_OPEN} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault)",
    )


def batches(db: Database) -> int:
    """Count the queries whose open batches are done as far as they can be, and whose next one nobody declined."""
    return _count(
        db,
        "SELECT count(*) FROM (SELECT b.query_id FROM batch b WHERE b.number IS NOT NULL GROUP BY b.query_id "
        # Whatever lacks a grade is on the agenda, but for what an exam asks and for clips that cannot be shown.
        "HAVING NOT EXISTS (SELECT 1 FROM batch o JOIN agenda a USING (batch_id) "
        "  WHERE o.query_id = b.query_id AND o.number IS NOT NULL) "
        "AND NOT EXISTS (SELECT 1 FROM set_aside s JOIN pair p USING (pair_id) JOIN batch o USING (batch_id) "
        "  LEFT JOIN consensus c USING (pair_id) WHERE p.query_id = b.query_id AND o.number IS NOT NULL "
        f"  AND {_OPEN} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault)) "
        "AND NOT EXISTS (SELECT 1 FROM declined_batch d WHERE d.query_id = b.query_id AND d.ended_at IS NULL) "
        f"AND {STILL_LISTED.format(query='b.query_id')} > 0)",
    )


def descriptions(db: Database) -> int:
    """Count the descriptions that nobody has accepted or sent back."""
    return _count(db, "SELECT count(*) FROM description WHERE status = 'waiting'")


def paused(db: Database) -> int:
    """Count the annotators who are paused, and not suspended as well."""
    return _count(
        db,
        "SELECT count(*) FROM pause u JOIN annotator a USING (annotator_id) "
        "WHERE u.ended_at IS NULL AND a.suspended = 0",
    )


def warned_by_gold(db: Database) -> list[AnnotatorId]:
    """Return the annotators at work whom gold warned last; what it found before they were let go on does not count."""
    rows = db.conn.execute(
        "SELECT g.annotator_id FROM gold_finding g JOIN annotator a USING (annotator_id) "
        "WHERE a.suspended = 0 AND g.kind = 'warned' AND g.gold_finding_id = "
        "(SELECT max(gold_finding_id) FROM gold_finding l WHERE l.annotator_id = g.annotator_id) "
        "AND NOT EXISTS (SELECT 1 FROM pause u WHERE u.annotator_id = g.annotator_id AND u.paused_at >= g.found_at)"
    )
    return [AnnotatorId(row[0]) for row in rows]


def _count(db: Database, sql: str) -> int:
    count: int = db.conn.execute(sql).fetchone()[0]
    return count
