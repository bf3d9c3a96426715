"""SQL for the rule that recommends next batches, for declined batches, and for the open batches of queries."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import msgspec

from backend.campaign.nouns import Split
from backend.campaign.selection.batches import model
from backend.campaign.selection.batches.model import BatchRule, BatchRuleVersion, DeclinedBatch, NextState
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.model import CANDIDATES_ADDED
from backend.campaign.selection.candidates.rows import STILL_LISTED
from backend.campaign.setup.project import rows as project_rows
from backend.core.ids import AnnotatorId, BatchId, PairId, QueryId
from backend.core.messages import said
from backend.store.engine import Database


def versions(db: Database) -> list[BatchRuleVersion]:
    """Return all versions of the rule that recommends next batches, the first one first."""
    campaign = project_rows.campaign(db)
    first = BatchRuleVersion(1, None, None, "", model.default_rule(campaign.scale, campaign.batch_size))
    rows = db.conn.execute(
        "SELECT r.version, r.since, a.name, r.reason, r.last, r.mean, r.finds, r.grade FROM batch_rule r "
        "LEFT JOIN annotator a ON a.annotator_id = r.lead_id ORDER BY r.version"
    )
    return [first, *(BatchRuleVersion(row[0], row[1], row[2], row[3], BatchRule(*row[4:])) for row in rows)]


def add_version(db: Database, rule: BatchRule, reason: str, lead: AnnotatorId | None, *, at: float) -> int:
    """Store a new rule for next batches, which is in force from now on; return its version number."""
    number: int = db.conn.execute(
        "INSERT INTO batch_rule (version, since, lead_id, reason, last, mean, finds, grade) "
        "SELECT coalesce(max(version), 1) + 1, ?, ?, ?, ?, ?, ?, ? FROM batch_rule RETURNING version",
        [at, lead, reason, rule.last, rule.mean, rule.finds, rule.grade],
    ).fetchone()[0]
    return number


def decline(db: Database, query_id: QueryId, number: int, lead: AnnotatorId | None, reason: str, *, at: float) -> None:
    """Store that a lead declined a batch."""
    db.conn.execute(
        "INSERT INTO declined_batch (query_id, number, declined_at, declined_by, reason) VALUES (?, ?, ?, ?, ?)",
        [query_id, number, at, lead, reason],
    )


def end_decline(db: Database, query_id: QueryId, lead: AnnotatorId | None, *, at: float) -> None:
    """Take back the decision not to open the next batch of a query."""
    db.conn.execute(
        "UPDATE declined_batch SET ended_at = ?, ended_by = ? WHERE query_id = ? AND ended_at IS NULL",
        [at, lead, query_id],
    )


def declined(db: Database, query_id: QueryId) -> DeclinedBatch | None:
    """Return the decision not to open the next batch of a query; None if no such decision is in force.

    It stays in force when further runs are submitted. A batch is opened for their candidates, and the next batch then
    has a higher number.
    """
    row = db.conn.execute(
        "SELECT a.name, d.declined_at, d.reason FROM declined_batch d "
        "LEFT JOIN annotator a ON a.annotator_id = d.declined_by "
        "WHERE d.query_id = ? AND d.ended_at IS NULL",
        [query_id],
    ).fetchone()
    return DeclinedBatch(*row) if row else None


def taken_back(db: Database, query_id: QueryId, number: int) -> tuple[str | None, float] | None:
    """Return (person, time) of the last time that somebody took back the decision to decline a batch; None if never.

    The person is None if a command did it. The time is in seconds since 1970.
    """
    row = db.conn.execute(
        "SELECT a.name, d.ended_at FROM declined_batch d LEFT JOIN annotator a ON a.annotator_id = d.ended_by "
        "WHERE d.query_id = ? AND d.number = ? AND d.ended_at IS NOT NULL ORDER BY d.declined_id DESC LIMIT 1",
        [query_id, number],
    ).fetchone()
    return (row[0], row[1]) if row else None


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """One query with an open batch, and the numbers that decide about its next batch.

    `batches` counts its open batches, without a probe. `pairs` is the number of pairs that the next batch would have; 0
    if no candidates are left. `declined` says whether a lead declined it. `unsettled` counts pairs of the open batches
    that still need grades, without those whose clip cannot be shown.

    `relevances` are those of the open batches' pairs in rank order, None where there is none. Pairs of a later pooling
    are left out: their ranks say nothing about how deep a list is worth judging.
    """

    query_id: QueryId
    query: str
    split: Split
    batches: int
    pairs: int
    declined: bool
    unsettled: int
    relevances: tuple[int | None, ...]

    @property
    def state(self) -> NextState:
        """State of the query's next batch."""
        return model.next_state(unsettled=self.unsettled, pairs=self.pairs, declined=self.declined)


def open_queries(db: Database, query_id: QueryId | None = None) -> Iterator[OpenQuery]:
    """Yield queries with an open batch and further candidates, in judging order.

    With `query_id`, yield that query alone, even without further candidates.
    """
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
    for _, query_rows in groupby(rows, key=lambda row: row[0]):
        pairs = list(query_rows)
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
    """Return for each split how many queries have one open batch, two and so on, such as `{"val": {"1": 40}}`."""
    counts: dict[str, dict[str, int]] = {}
    for split, batches, queries in db.conn.execute(
        "SELECT q.split, o.batches, count(*) FROM (SELECT query_id, count(*) AS batches FROM batch "
        "WHERE number IS NOT NULL GROUP BY query_id) AS o JOIN query q USING (query_id) "
        "GROUP BY q.split, o.batches ORDER BY q.split DESC, o.batches"
    ):
        counts.setdefault(split, {})[str(batches)] = queries
    return counts


def opened(db: Database, query_id: QueryId, number: int) -> tuple[BatchId, str | None, float] | None:
    """Return an open batch as (batch id, name of who opened it, time); None if it is not open.

    The name is None if a command opened it. The time is in seconds since 1970.
    """
    row = db.conn.execute(
        "SELECT b.batch_id, a.name, b.opened_at FROM batch b LEFT JOIN annotator a ON a.annotator_id = b.opened_by "
        "WHERE b.query_id = ? AND b.number = ?",
        [query_id, number],
    ).fetchone()
    return (BatchId(row[0]), row[1], row[2]) if row else None


_WORK = {
    said("grade"): ("judgement", "judgement_id", "graded_at"),
    said("skip"): ("skip", "skip_id", "skipped_at"),
    said("decision of a lead"): ("adjudication", "adjudication_id", "decided_at"),
    said("item of an exam or calibration round"): (
        "exam_item",
        "exam_id",
        "(SELECT e.set_at FROM exam e WHERE e.exam_id = exam_item.exam_id)",
    ),
    said("example of the guideline"): ("example", "example_id", "chosen_at"),
}
"""Tables whose rows are somebody's work on a pair, by the name of that work, each with its number and its time."""


@dataclass(frozen=True, slots=True)
class BatchOpening:
    """The opening of a batch, to tell what came before it even if the clock was set back meanwhile.

    `at` is in seconds since 1970. `last` is what `candidates_rows.last_rows` returned then, and `on_screen` lists the
    (pair_id, annotator_id) of clips that were on a screen; None for a batch of an earlier version, for which times
    tell.
    """

    at: float
    last: Mapping[str, int] | None = None
    on_screen: Collection[tuple[PairId, AnnotatorId]] = ()

    def later(self, number: str, at: str) -> tuple[str, float]:
        """Return an SQL condition with one parameter, and its value, for rows that were written after the opening."""
        return (f"{at} > ?", self.at) if self.last is None else (f"{number} > ?", self.last[number])


def opening(db: Database, query_id: QueryId, at: float) -> BatchOpening:
    """Return what the event log says about the opening of a query's batch at this time."""
    row = db.conn.execute(
        "SELECT payload FROM event WHERE kind IN (?, ?) AND subject IN (?, 'candidates') AND at = ? "
        "ORDER BY event_id DESC LIMIT 1",
        [model.BATCH_OPENED.kind, CANDIDATES_ADDED.kind, f"query:{query_id}", at],
    ).fetchone()
    payload = msgspec.json.decode(row[0]) if row else {}
    return BatchOpening(at, payload.get("last"), [(pair, person) for pair, person in payload.get("on_screen", ())])


_PAIRS = "(SELECT pair_id FROM pair WHERE batch_id = :batch)"
_IN_BATCH = "(SELECT pair_id FROM pair WHERE batch_id = ?)"


def work(db: Database, batch_id: BatchId, *, after: BatchOpening | None) -> dict[str, int]:
    """Count the grades, skips, leads' decisions and other work on a batch's pairs, by kind of work.

    Work from before the opening `after` does not count. Kinds without any are left out.
    """
    counts = {}
    for what, (table, number, at) in _WORK.items():
        condition, bound = after.later(number, at) if after else (f"{number} > ?", 0)
        sql = f"SELECT count(*) FROM {table} WHERE pair_id IN {_IN_BATCH} AND {condition}"
        counts[what] = db.conn.execute(sql, [batch_id, bound]).fetchone()[0]
    return {what: count for what, count in counts.items() if count}


def logged(db: Database, batch_id: BatchId, *, after: BatchOpening) -> bool:
    """Return whether the event log has an entry about a pair of a batch since its opening, such as a refused grade."""
    condition, bound = after.later("event_id", "at")
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM pair p JOIN event e ON e.subject = 'pair:' || p.pair_id "
        f"WHERE p.batch_id = ? AND e.{condition})",
        [batch_id, bound],
    ).fetchone()
    return bool(row[0])


def released(db: Database, *, after: BatchOpening) -> bool:
    """Return whether a release was made since an opening. A release contains the numbers of all pairs."""
    condition, bound = after.later("release_id", "created_at")
    row = db.conn.execute(f'SELECT EXISTS (SELECT 1 FROM "release" WHERE {condition})', [bound]).fetchone()
    return bool(row[0])


def on_screen(db: Database, batch_id: BatchId) -> dict[tuple[PairId, AnnotatorId], tuple[str, float]]:
    """Return (name, time) by (pair_id, annotator_id) of the annotators who have a pair of a batch on their screens.

    They are included even if the time for which the pair was reserved for them has run out. The time is when it was
    shown, in seconds since 1970.
    """
    rows = db.conn.execute(
        "SELECT s.pair_id, s.annotator_id, a.name, s.shown_at FROM seat s JOIN annotator a USING (annotator_id) "
        f"WHERE s.pair_id IN {_PAIRS} AND s.lease_until IS NOT NULL AND s.shown_at IS NOT NULL ORDER BY a.name",
        {"batch": batch_id},
    )
    return {(PairId(row[0]), AnnotatorId(row[1])): (row[2], row[3]) for row in rows}


def shown_to(db: Database, batch_id: BatchId, *, after: BatchOpening | None) -> list[str]:
    """Return the names of annotators who have a pair of a batch on their screens, shown after its opening."""
    names = {
        name: None
        for place, (name, at) in on_screen(db, batch_id).items()
        if after is None or (at > after.at if after.last is None else place not in after.on_screen)
    }
    return list(names)


def held(db: Database, batch_id: BatchId) -> dict[AnnotatorId, list[PairId]]:
    """Map each annotator to the pairs of a batch that they have been given and have not graded yet."""
    pairs: dict[AnnotatorId, list[PairId]] = defaultdict(list)
    for row in db.conn.execute(
        f"SELECT annotator_id, pair_id FROM seat WHERE pair_id IN {_PAIRS} AND lease_until IS NOT NULL "
        "ORDER BY annotator_id, claim_no",
        {"batch": batch_id},
    ):
        pairs[AnnotatorId(row[0])].append(PairId(row[1]))
    return pairs


def probe(db: Database, query_id: QueryId) -> BatchId | None:
    """Return the id of a query's probe; None if it has none.

    A probe is a sample of the query's moments that is graded to learn how deep judging must go. When a further batch is
    opened, pairs of the probe that belong to it are moved into it.
    """
    row = db.conn.execute("SELECT batch_id FROM batch WHERE query_id = ? AND number IS NULL", [query_id]).fetchone()
    return BatchId(row[0]) if row else None


def remove(db: Database, batch_id: BatchId, probe_id: BatchId | None) -> int:
    """Remove a batch, and return how many pairs it had.

    If the query has a probe (a sample graded to learn how deep judging must go), the pairs become pairs of the probe.
    Otherwise they are removed, with the places that annotators have at them and the grades of models.
    """
    db.conn.execute("DELETE FROM agenda WHERE batch_id = ?", [batch_id])
    if probe_id is None:
        for table in ("seat", "model_grade"):
            db.conn.execute(f"DELETE FROM {table} WHERE pair_id IN {_PAIRS}", {"batch": batch_id})
        pairs = db.conn.execute("DELETE FROM pair WHERE batch_id = ?", [batch_id]).rowcount
    else:
        pairs = db.conn.execute("UPDATE pair SET batch_id = ? WHERE batch_id = ?", [probe_id, batch_id]).rowcount
        candidates_rows.refresh_agenda(db, probe_id)
    db.conn.execute("DELETE FROM batch WHERE batch_id = ?", [batch_id])
    return pairs
