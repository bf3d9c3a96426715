"""A lead's list of queries, searched, filtered, sorted and cut into pages by the database."""

import json
from typing import Any

from backend.campaign.review.model import QueryFilter, QueryPlace, QueryReview, QueryShow
from backend.campaign.review.rows import reviews
from backend.campaign.selection.candidates.rows.lists import STILL_LISTED
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.store.engine import Database, containing

_BATCHES = "(SELECT count(b.number) FROM batch b WHERE b.query_id = q.query_id)"
_DECLINED = "EXISTS (SELECT 1 FROM declined_batch d WHERE d.query_id = q.query_id AND d.ended_at IS NULL)"
_SORTED_BY = {
    "query": "q.text COLLATE NOCASE",
    "split": "q.split",
    "settled": "1.0 * t.settled / t.pairs",
    "pairs": "t.pairs",
    "escalated": "t.escalated",
    "discarded": "t.discarded",
    "batches": _BATCHES,
}
_SHOWN = {
    QueryShow.ALL: "TRUE",
    QueryShow.IN_WORK: "t.settled < t.pairs",
    # As `QueryReview.more_candidates` says it; what a lead declined waits for nobody.
    QueryShow.NEXT_BATCH: "t.settled + t.blocked = t.pairs "
    f"AND {STILL_LISTED.format(query='q.query_id')} > 0 AND NOT {_DECLINED}",
    QueryShow.DECLINED: _DECLINED,
}
# From the batches on: what a probe alone holds is in no list.
_TALLY = """
  SELECT p.query_id, count(*) AS pairs, count(c.pair_id) - sum(c.verdict IS 'escalated') AS settled,
    sum(c.verdict IS 'escalated') AS escalated, sum(c.verdict IS 'discarded') AS discarded,
    sum(f.moment_id IS NOT NULL AND coalesce(c.verdict, 'escalated') = 'escalated') AS blocked
  FROM batch b CROSS JOIN pair p USING (batch_id) LEFT JOIN consensus c USING (pair_id)
    LEFT JOIN clip_fault f USING (moment_id)
  WHERE b.number IS NOT NULL GROUP BY p.query_id
"""
_UNTOLD = "SELECT query_id FROM batch WHERE number IS NOT NULL GROUP BY query_id"
_TOLD_BY_ITSELF = ("", "query", "split", "batches")
"""Orders, of all queries, for which nobody has to look at the pairs."""


def count(db: Database, wanted: QueryFilter) -> int:
    """How many queries the list holds."""
    where, values = _where(wanted)
    found: int = db.conn.execute(
        f"SELECT count(*) FROM ({_tally(wanted)}) t JOIN query q USING (query_id) WHERE {where}", values
    ).fetchone()[0]
    return found


def page(db: Database, wanted: QueryFilter, first: int, most: int) -> list[QueryReview]:
    """At most so many queries of the list from the given one on, counted from 0, in its order."""
    where, values = _where(wanted)
    ids = [
        QueryId(row[0])
        for row in db.conn.execute(
            f"SELECT q.query_id FROM ({_tally(wanted)}) t JOIN query q USING (query_id) WHERE {where} "
            f"ORDER BY {_order(wanted)} LIMIT :most OFFSET :first",
            {**values, "most": most, "first": first},
        )
    ]
    found = {review.query_id: review for review in reviews.reviews_of(db, ids)}
    return [found[query_id] for query_id in ids]


def place(db: Database, wanted: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    """Where a query stands in the list; None where it has no open batch."""
    where, values = _where(wanted)
    # A query that has just left the list, by what was decided about it, still stands between its neighbours.
    row = db.conn.execute(
        f"""
        WITH listed AS (
          SELECT q.query_id, ({where}) AS is_in, row_number() OVER o AS place, lag(q.query_id) OVER o AS before,
            lead(q.query_id) OVER o AS after
          FROM ({_tally(wanted)}) t JOIN query q USING (query_id) WHERE ({where}) OR q.query_id = :query
          WINDOW o AS (ORDER BY {_order(wanted)})
        )
        SELECT is_in, place, (SELECT sum(is_in) FROM listed) AS listed, before, after
        FROM listed WHERE query_id = :query
        """,
        {**values, "query": query_id},
    ).fetchone()
    if row is None:
        return None
    neighbours = [None if row[name] is None else QueryId(row[name]) for name in ("before", "after")]
    return QueryPlace(row["place"] if row["is_in"] else None, row["listed"], *neighbours)


def _tally(wanted: QueryFilter) -> str:
    simple = wanted.show is QueryShow.ALL and wanted.sort.removeprefix("-") in _TOLD_BY_ITSELF
    return _UNTOLD if simple else _TALLY


def _where(wanted: QueryFilter) -> tuple[str, dict[str, Any]]:
    """The condition on a query `q` with its tally `t`, and its values."""
    conditions, values = [_SHOWN[wanted.show]], dict[str, Any]()
    if wanted.split is not None:
        conditions.append("q.split = :split")
        values["split"] = wanted.split.value
    if wanted.only is not None:
        conditions.append("q.query_id IN (SELECT value FROM json_each(:only))")
        values["only"] = json.dumps(sorted(wanted.only))
    words = wanted.search.split()
    holds = []
    for number, word in enumerate(words):
        holds.append(f"q.text LIKE :word{number} ESCAPE '!'")
        values[f"word{number}"] = containing(word)
    if len(words) == 1 and words[0].isascii() and words[0].isdecimal():
        holds = [f"({holds[0]} OR q.query_id = CAST(:number AS INTEGER))"]
        values["number"] = words[0]
    return " AND ".join(f"({condition})" for condition in (*conditions, *holds)), values


def _order(wanted: QueryFilter) -> str:
    if not wanted.sort:
        return "q.position, q.query_id"
    column = _SORTED_BY.get(wanted.sort.removeprefix("-"))
    if column is None:
        raise ProjectError(
            said(
                "queries cannot be sorted by {sort!r}: choose one of {known}",
                sort=wanted.sort,
                known=", ".join(_SORTED_BY),
            )
        )
    return f"{column} {'DESC' if wanted.sort.startswith('-') else 'ASC'}, q.position, q.query_id"
