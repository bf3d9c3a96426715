"""How the batches of queries stand: their relevances by rank, what is left of their candidates. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from backend.campaign.nouns import Split
from backend.campaign.selection.candidates.rows.lists import STILL_LISTED
from backend.core.ids import BatchId, QueryId
from backend.store.engine import Database


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
