"""SQL for the leads' list of queries, counts of pairs by state, removing queries, and the pairs of probes.

A probe is a sample of a query's moments, graded to learn down to which rank grading is worthwhile. The database
searches, filters, sorts and pages the list.
"""

import json
from dataclasses import dataclass
from typing import Any

from backend.campaign.nouns import Verdict
from backend.campaign.review.model import InUse, QueryFilter, QueryPlace, QueryReview, QueryShow
from backend.campaign.review.rows import reviews
from backend.campaign.selection.candidates.rows import PROBE_PAIRS, STILL_LISTED
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.store.engine import Database, like_pattern

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
    # The same condition as `QueryReview.more_candidates`, without what a lead declined.
    QueryShow.NEXT_BATCH: "t.settled + t.blocked = t.pairs "
    f"AND {STILL_LISTED.format(query='q.query_id')} > 0 AND NOT {_DECLINED}",
    QueryShow.DECLINED: _DECLINED,
}
# Starts from the batches that have a number: a query with only a probe is in no list.
_TALLY = """
  SELECT p.query_id, count(*) AS pairs, count(c.pair_id) - sum(c.verdict IS 'escalated') AS settled,
    sum(c.verdict IS 'escalated') AS escalated, sum(c.verdict IS 'discarded') AS discarded,
    sum(f.moment_id IS NOT NULL AND coalesce(c.verdict, 'escalated') = 'escalated') AS blocked
  FROM batch b CROSS JOIN pair p USING (batch_id) LEFT JOIN consensus c USING (pair_id)
    LEFT JOIN clip_fault f USING (moment_id)
  WHERE b.number IS NOT NULL GROUP BY p.query_id
"""
_WITHOUT_TALLY = "SELECT query_id FROM batch WHERE number IS NOT NULL GROUP BY query_id"
_SORTS_WITHOUT_TALLY = ("", "query", "split", "batches")
"""Orders of the unfiltered list that need no look at the pairs."""


def count(db: Database, query_filter: QueryFilter) -> int:
    """Return how many queries match the filter."""
    where, values = _where(query_filter)
    number: int = db.conn.execute(
        f"SELECT count(*) FROM ({_tally(query_filter)}) t JOIN query q USING (query_id) WHERE {where}", values
    ).fetchone()[0]
    return number


def page(db: Database, query_filter: QueryFilter, first: int, most: int) -> list[QueryReview]:
    """Return one page of the queries that match the filter, in the filter's order.

    The page has at most `most` queries. It starts at position `first` of the filtered list, counted from 0.
    """
    where, values = _where(query_filter)
    ids = [
        QueryId(row[0])
        for row in db.conn.execute(
            f"SELECT q.query_id FROM ({_tally(query_filter)}) t JOIN query q USING (query_id) WHERE {where} "
            f"ORDER BY {_order(query_filter)} LIMIT :most OFFSET :first",
            {**values, "most": most, "first": first},
        )
    ]
    by_id = {review.query_id: review for review in reviews.reviews_of(db, ids)}
    return [by_id[query_id] for query_id in ids]


def place(db: Database, query_filter: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    """Return the position of a query among those that match the filter, and its neighbours there.

    The result is None if the query has no open batch, which is a group of its candidates handed out together.
    """
    where, values = _where(query_filter)
    # A decision may have just taken the query off the list. It keeps its neighbours, so that a lead can go on.
    row = db.conn.execute(
        f"""
        WITH listed AS (
          SELECT q.query_id, ({where}) AS is_in, row_number() OVER o AS place, lag(q.query_id) OVER o AS before,
            lead(q.query_id) OVER o AS after
          FROM ({_tally(query_filter)}) t JOIN query q USING (query_id) WHERE ({where}) OR q.query_id = :query
          WINDOW o AS (ORDER BY {_order(query_filter)})
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


def _tally(query_filter: QueryFilter) -> str:
    simple = query_filter.show is QueryShow.ALL and query_filter.sort.removeprefix("-") in _SORTS_WITHOUT_TALLY
    return _WITHOUT_TALLY if simple else _TALLY


def _where(query_filter: QueryFilter) -> tuple[str, dict[str, Any]]:
    """Return a filter as (SQL condition, values of its placeholders).

    The condition uses the aliases `q` for the query and `t` for the counts of its pairs.
    """
    conditions, values = [_SHOWN[query_filter.show]], dict[str, Any]()
    if query_filter.split is not None:
        conditions.append("q.split = :split")
        values["split"] = query_filter.split.value
    if query_filter.only is not None:
        conditions.append("q.query_id IN (SELECT value FROM json_each(:only))")
        values["only"] = json.dumps(sorted(query_filter.only))
    words = query_filter.search.split()
    holds = []
    for number, word in enumerate(words):
        holds.append(f"q.text LIKE :word{number} ESCAPE '!'")
        values[f"word{number}"] = like_pattern(word)
    if len(words) == 1 and words[0].isascii() and words[0].isdecimal():
        holds = [f"({holds[0]} OR q.query_id = CAST(:number AS INTEGER))"]
        values["number"] = words[0]
    return " AND ".join(f"({condition})" for condition in (*conditions, *holds)), values


def _order(query_filter: QueryFilter) -> str:
    if not query_filter.sort:
        return "q.position, q.query_id"
    column = _SORTED_BY.get(query_filter.sort.removeprefix("-"))
    if column is None:
        raise ProjectError(
            said(
                "queries cannot be sorted by {sort!r}: choose one of {known}",
                sort=query_filter.sort,
                known=", ".join(_SORTED_BY),
            )
        )
    return f"{column} {'DESC' if query_filter.sort.startswith('-') else 'ASC'}, q.position, q.query_id"


_WORK = {
    said("grades"): "judgement",
    said("skips"): "skip",
    said("decisions of leads"): "adjudication",
    said("items of exams"): "exam_item",
    said("examples of the guideline"): "example",
    said("queries assigned to an annotator"): "assigned_query",
    said("declined batches"): "declined_batch",
}
"""Maps what people call a kind of work to the table in which each row is one piece of it."""


_EMPTIED_TABLES = ("model_grade", "agenda", "seat", "pair", "batch", "candidate_source", "source", "candidate", "query")
"""Tables to empty, in this order: those that refer to others first."""


def work(db: Database) -> dict[str, int]:
    """Return how many records there are of each kind of work on pairs and queries, such as grades.

    The keys are translatable names of the kinds. Kinds without records are left out.
    """
    counts = {words: db.conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for words, table in _WORK.items()}
    return {words: count for words, count in counts.items() if count}


def holding(db: Database, lease_s: float, *, now: float) -> list[tuple[str, float]]:
    """Return (name, end of the reservation) of each annotator for whom a pair is reserved right now.

    A pair is reserved for `lease_s` seconds for the annotator to whom it was handed out; then others may take it. The
    end is in seconds since 1970. It is the latest one if several pairs are reserved for an annotator. Reservations from
    before the clock was set back by more than `lease_s` are over.
    """
    rows = db.conn.execute(
        "SELECT a.name, max(s.lease_until) FROM seat s JOIN annotator a USING (annotator_id) "
        "WHERE s.lease_until >= ? AND s.lease_until <= ? GROUP BY a.annotator_id ORDER BY a.name",
        [now, now + 2 * lease_s],
    )
    return [(row[0], row[1]) for row in rows]


def remove(db: Database) -> tuple[int, int]:
    """Remove all queries and everything that refers to them. Return how many candidates and pairs were removed."""
    removed = {table: db.conn.execute(f"DELETE FROM {table}").rowcount for table in _EMPTIED_TABLES}
    # Moments that only runs found for these queries go too, unless captions, practice or clip faults refer to them.
    db.conn.execute(
        "DELETE FROM moment WHERE origin = 'pooled' AND moment_id NOT IN (SELECT moment_id FROM caption "
        "UNION SELECT moment_id FROM practice UNION SELECT moment_id FROM clip_fault)"
    )
    return removed["candidate"], removed["pair"]


_RELEASED = f"p.pair_id NOT IN {PROBE_PAIRS}"


def pair_counts(db: Database, *, probes: bool = True) -> dict[str, int]:
    """Return how many pairs are in each state; every pair is counted once.

    The keys are the values of `Verdict`, `blocked` and `set_aside`. `blocked` counts unsettled pairs whose clip cannot
    be shown. `set_aside` counts unsettled pairs that are kept back for an exam or a calibration round. If `probes` is
    False, probe pairs are left out. They are graded only to learn down to which rank grading is worthwhile.
    """
    where = "TRUE" if probes else _RELEASED
    pairs: int = db.conn.execute(f"SELECT count(*) FROM pair p WHERE {where}").fetchone()[0]
    by_verdict = dict(
        db.conn.execute(f"SELECT verdict, count(*) FROM consensus p WHERE {where} GROUP BY verdict").fetchall()
    )
    # Counted in a query of its own, which is fast because few clips are broken.
    blocked = dict(
        db.conn.execute(
            "SELECT coalesce(c.verdict, 'open') AS state, count(*) FROM clip_fault f JOIN pair p USING (moment_id) "
            f"LEFT JOIN consensus c USING (pair_id) WHERE {where} GROUP BY state HAVING state IN ('open', 'escalated')"
        ).fetchall()
    )
    aside = dict(
        db.conn.execute(
            "SELECT coalesce(c.verdict, 'open') AS state, count(*) FROM set_aside o JOIN pair p USING (pair_id) "
            "LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
            f"WHERE f.moment_id IS NULL AND {where} GROUP BY state HAVING state IN ('open', 'escalated')"
        ).fetchall()
    )
    by_verdict["open"] = pairs - sum(by_verdict.values())
    waiting = {state: blocked.get(state, 0) + aside.get(state, 0) for state in ("open", "escalated")}
    counts = {verdict.value: by_verdict.get(verdict, 0) - waiting.get(verdict.value, 0) for verdict in Verdict}
    return {**counts, "blocked": sum(blocked.values()), "set_aside": sum(aside.values())}


def judgement_counts(db: Database, *, probes: bool = True) -> tuple[int, int]:
    """Return (number of judgements, how many of them the demo simulated). A corrected grade counts once.

    If `probes` is False, probe pairs are left out. They are graded only to learn down to which rank grading is
    worthwhile.
    """
    row = db.conn.execute(
        "SELECT count(*), coalesce(sum(simulated), 0) FROM judgement p WHERE revision = 1 "
        f"AND {'TRUE' if probes else _RELEASED}"
    ).fetchone()
    return row[0], row[1]


def annotator_count(db: Database) -> int:
    """Return how many annotators there are, not counting leads."""
    count: int = db.conn.execute("SELECT count(*) FROM annotator WHERE role = 'annotator'").fetchone()[0]
    return count


@dataclass(frozen=True, slots=True)
class ProbePair:
    """A pair of a query that has a probe.

    A probe is a sample of a query's moments, graded to learn down to which rank grading is worthwhile. `rank` is the
    moment's position among all moments, ordered by similarity to the query. `relevance` is None until the pair is
    settled with one.
    """

    pair_id: int
    query_id: int
    query: str
    video: str
    start_s: float
    end_s: float
    rank: int
    similarity: float
    relevance: int | None


def probe_pairs(db: Database, *, top: int) -> list[ProbePair]:
    """Return the pairs that the figures about probes show, ordered by query and rank.

    A probe is a sample of a query's moments, graded to learn down to which rank grading is worthwhile. For each query
    with a probe, the result has all pairs of the probe, and other pairs with a rank of at most `top`. Pairs without a
    similarity are left out. Queries are in the order in which they are handed out.
    """
    rows = db.conn.execute(
        "SELECT p.pair_id, p.query_id, q.text, v.name, m.start_s, m.end_s, p.rank, p.similarity, c.relevance "
        "FROM batch o JOIN query q USING (query_id) JOIN pair p ON p.query_id = q.query_id "
        "JOIN moment m USING (moment_id) JOIN video v USING (video_id) LEFT JOIN consensus c USING (pair_id) "
        # Pairs that only runs found have no similarity. They do not show how deep judging by similarity has to go.
        "WHERE o.number IS NULL AND p.similarity IS NOT NULL AND (p.batch_id = o.batch_id OR p.rank <= ?) "
        "ORDER BY q.position, p.rank",
        [top],
    )
    return [ProbePair(*row) for row in rows]


def in_use(db: Database) -> InUse:
    """Return which optional parts of the campaign are in use: captions, rewrites of them, descriptions, gold questions.

    Gold questions are pairs with known grades, hidden in annotators' work to check their care.
    """
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM caption), EXISTS (SELECT 1 FROM caption WHERE kind = 'rewritten'), "
        "EXISTS (SELECT 1 FROM describing_choice) OR EXISTS (SELECT 1 FROM description), "
        "EXISTS (SELECT 1 FROM consensus WHERE verdict IN ('consensus', 'adjudicated')) "
        "OR EXISTS (SELECT 1 FROM gold_pair)"
    ).fetchone()
    return InUse(*map(bool, row))
