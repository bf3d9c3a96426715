"""The rule's versions, and what leads declined: reads and writes."""

from backend.campaign.selection.batches import rules
from backend.campaign.selection.batches.model import BatchRule, BatchRuleVersion, DeclinedBatch
from backend.campaign.setup.project import rows as facts
from backend.core.ids import AnnotatorId, QueryId
from backend.store.engine import Database


def versions(db: Database) -> list[BatchRuleVersion]:
    """All versions of the rule, the first one first."""
    campaign = facts.campaign(db)
    first = BatchRuleVersion(1, None, None, "", rules.default(campaign.scale, campaign.batch_size))
    rows = db.conn.execute(
        "SELECT r.version, r.since, a.name, r.reason, r.last, r.mean, r.finds, r.grade FROM batch_rule r "
        "LEFT JOIN annotator a ON a.annotator_id = r.lead_id ORDER BY r.version"
    )
    return [first, *(BatchRuleVersion(row[0], row[1], row[2], row[3], BatchRule(*row[4:])) for row in rows)]


def add_version(db: Database, rule: BatchRule, reason: str, lead: AnnotatorId | None, *, at: float) -> int:
    """Let another rule stand from now on; its number."""
    number: int = db.conn.execute(
        "INSERT INTO batch_rule (version, since, lead_id, reason, last, mean, finds, grade) "
        "SELECT coalesce(max(version), 1) + 1, ?, ?, ?, ?, ?, ?, ? FROM batch_rule RETURNING version",
        [at, lead, reason, rule.last, rule.mean, rule.finds, rule.grade],
    ).fetchone()[0]
    return number


def decline(db: Database, query_id: QueryId, number: int, lead: AnnotatorId | None, reason: str, *, at: float) -> None:
    """Note that a batch shall not be opened."""
    db.conn.execute(
        "INSERT INTO declined_batch (query_id, number, declined_at, declined_by, reason) VALUES (?, ?, ?, ?, ?)",
        [query_id, number, at, lead, reason],
    )


def end_decline(db: Database, query_id: QueryId, lead: AnnotatorId | None, *, at: float) -> None:
    """The decision not to open a further batch stands no more."""
    db.conn.execute(
        "UPDATE declined_batch SET ended_at = ?, ended_by = ? WHERE query_id = ? AND ended_at IS NULL",
        [at, lead, query_id],
    )


def declined(db: Database, query_id: QueryId) -> DeclinedBatch | None:
    """The decision not to open a further batch, if one stands.

    It stands whatever number that batch has by now: what a later pooling found is a batch, too.
    """
    row = db.conn.execute(
        "SELECT a.name, d.declined_at, d.reason FROM declined_batch d "
        "LEFT JOIN annotator a ON a.annotator_id = d.declined_by "
        "WHERE d.query_id = ? AND d.ended_at IS NULL",
        [query_id],
    ).fetchone()
    return DeclinedBatch(*row) if row else None


def taken_back(db: Database, query_id: QueryId, number: int) -> tuple[str | None, float] | None:
    """Who last took the decision not to open a batch back (None: the command line), and when."""
    row = db.conn.execute(
        "SELECT a.name, d.ended_at FROM declined_batch d LEFT JOIN annotator a ON a.annotator_id = d.ended_by "
        "WHERE d.query_id = ? AND d.number = ? AND d.ended_at IS NOT NULL ORDER BY d.declined_id DESC LIMIT 1",
        [query_id, number],
    ).fetchone()
    return (row[0], row[1]) if row else None
