"""Store the rule about next batches and what leads declined, and read how the batches of queries stand."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from backend.campaign.nouns import Split
from backend.campaign.selection.batches import model
from backend.campaign.selection.batches.model import BatchRule, BatchRuleVersion, DeclinedBatch, NextState
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.rows import STILL_LISTED
from backend.campaign.setup.project import rows as project_rows
from backend.core.ids import AnnotatorId, BatchId, PairId, QueryId
from backend.core.messages import said
from backend.store.engine import Database


def versions(db: Database) -> list[BatchRuleVersion]:
    """All versions of the rule, the first one first."""
    campaign = project_rows.campaign(db)
    first = BatchRuleVersion(1, None, None, "", model.default_rule(campaign.scale, campaign.batch_size))
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


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """One query with an open batch."""

    query_id: QueryId
    query: str
    split: Split
    batches: int
    """How many are open, a probe left out."""
    pairs: int
    """How many the next batch would hand out; 0 where the candidate list ends."""
    declined: bool
    """Whether a lead declined the next batch."""
    unsettled: int
    """Pairs of the open batches that wait for grades; those with a clip that cannot be shown wait for none."""
    relevances: tuple[int | None, ...]
    """Of the open batches' pairs in rank order; those left out that a later pooling handed out, whose ranks tell
    nothing about how deep a list is worth judging."""

    @property
    def state(self) -> NextState:
        """State of its next batch."""
        return model.next_state(unsettled=self.unsettled, pairs=self.pairs, declined=self.declined)


def open_queries(db: Database, query_id: QueryId | None = None) -> Iterator[OpenQuery]:
    """Queries with an open batch and further candidates, in judging order; or the one asked for, also without any."""
    if query_id is None:
        which, values = "WHERE o.still_listed > 0", {}
    else:
        which, values = "WHERE q.query_id = :query", {"query": query_id}
    only = "" if query_id is None else "AND b.query_id = :query"
    rows = db.conn.execute(
        f"""
        WITH o AS (SELECT b.query_id, count(*) AS batches, {STILL_LISTED.format(query="b.query_id")} AS still_listed
          FROM batch b WHERE b.number IS NOT NULL {only} GROUP BY b.query_id)
        SELECT q.query_id, q.text, q.split, o.batches,
          max(0, min(b.size, o.still_listed)),
          EXISTS (SELECT 1 FROM declined_batch d
            WHERE d.query_id = o.query_id AND d.ended_at IS NULL),
          c.relevance, h.part,
          f.moment_id IS NULL AND coalesce(c.verdict, 'open') IN ('open', 'escalated')
        FROM o JOIN query q USING (query_id) JOIN (SELECT batch_size AS size FROM campaign) b
          JOIN pair p USING (query_id) JOIN batch h USING (batch_id)
          LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f ON f.moment_id = p.moment_id
        {which} AND h.number IS NOT NULL ORDER BY q.position, p.rank
        """,
        values,
    )
    for _, found in groupby(rows, key=lambda row: row[0]):
        pairs = list(found)
        first = pairs[0]
        yield OpenQuery(
            QueryId(first[0]),
            first[1],
            Split(first[2]),
            *(first[3], first[4], bool(first[5])),
            unsettled=sum(row[8] for row in pairs),
            relevances=tuple(row[6] for row in pairs if row[7] == 1),
        )


def shares(db: Database) -> dict[str, dict[str, int]]:
    """How many queries of each split have one batch, two batches and so on; splits and numbers that occur."""
    found: dict[str, dict[str, int]] = {}
    for split, batches, queries in db.conn.execute(
        "SELECT q.split, o.batches, count(*) FROM (SELECT query_id, count(*) AS batches FROM batch "
        "WHERE number IS NOT NULL GROUP BY query_id) AS o JOIN query q USING (query_id) "
        "GROUP BY q.split, o.batches ORDER BY q.split DESC, o.batches"
    ):
        found.setdefault(split, {})[str(batches)] = queries
    return found


def opened(db: Database, query_id: QueryId, number: int) -> tuple[BatchId, str | None, float] | None:
    """(batch, who opened it (None: the command line), when) of an open batch."""
    row = db.conn.execute(
        "SELECT b.batch_id, a.name, b.opened_at FROM batch b LEFT JOIN annotator a ON a.annotator_id = b.opened_by "
        "WHERE b.query_id = ? AND b.number = ?",
        [query_id, number],
    ).fetchone()
    return (BatchId(row[0]), row[1], row[2]) if row else None


_WORK = {
    said("grade"): ("judgement", "graded_at"),
    said("skip"): ("skip", "skipped_at"),
    said("decision of a lead"): ("adjudication", "decided_at"),
    said("item of an exam or calibration round"): (
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
        candidates_rows.refresh_agenda(db, probe_id)
    db.conn.execute("DELETE FROM batch WHERE batch_id = ?", [batch_id])
    return pairs
