"""What a lead looks at: queries, pairs, counts. Reads only; every number a screen shows comes from here."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlite_utils import Database

from backend.core.model import (
    GivenGrade,
    PairId,
    PairKey,
    PairReview,
    QueryId,
    QueryReview,
    Split,
    Verdict,
)

SETTLED = (Verdict.CONSENSUS, Verdict.DISCARDED, Verdict.ADJUDICATED)


def pair_counts(db: Database) -> dict[str, int]:
    """Pairs by state; the six numbers add up to all pairs.

    `blocked` pairs are those whose clip cannot be shown and which were not settled before that was found out.
    """
    rows = db.conn.execute(
        "SELECT CASE WHEN c.verdict IN ('consensus', 'discarded', 'adjudicated') THEN c.verdict "
        "WHEN f.moment_id IS NOT NULL THEN 'blocked' ELSE coalesce(c.verdict, 'open') END AS state, count(*) "
        "FROM pair p LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) GROUP BY state"
    )
    found = dict(rows.fetchall())
    return {state: found.get(state, 0) for state in [*(verdict.value for verdict in Verdict), "blocked"]}


def judgement_counts(db: Database) -> tuple[int, int]:
    """(grades that count, how many of them are simulated)."""
    row = db.conn.execute("SELECT count(*), coalesce(sum(simulated), 0) FROM standing").fetchone()
    return row[0], row[1]


def annotator_count(db: Database) -> int:
    """How many annotators there are (leads not counted)."""
    count: int = db.conn.execute("SELECT count(*) FROM annotator WHERE role = 'annotator'").fetchone()[0]
    return count


def query_reviews(db: Database, batch_size: int) -> list[QueryReview]:
    """Every query with an open batch, in judging order."""
    relevances: dict[int, list[int | None]] = defaultdict(list)
    for query_id, relevance in db.conn.execute(
        "SELECT p.query_id, c.relevance FROM pair p LEFT JOIN consensus c USING (pair_id) "
        "WHERE p.rank <= ? ORDER BY p.query_id, p.rank",
        [batch_size],
    ):
        relevances[query_id].append(relevance)
    rows = db.conn.execute(
        """
        SELECT q.query_id, q.text, q.split, count(*) AS pairs,
          sum(c.verdict IN ('consensus', 'discarded', 'adjudicated')) AS settled,
          sum(c.verdict = 'escalated') AS escalated, sum(c.verdict = 'discarded') AS discarded,
          sum(f.moment_id IS NOT NULL AND coalesce(c.verdict, 'open') IN ('open', 'escalated')) AS blocked,
          (SELECT count(*) FROM seat s WHERE s.lease_until IS NULL AND s.annotator_id IS NOT NULL
             AND s.pair_id IN (SELECT pair_id FROM pair WHERE query_id = q.query_id)) AS grades,
          (SELECT count(*) FROM batch b WHERE b.query_id = q.query_id) AS batches,
          (SELECT max(rank) FROM candidate k WHERE k.query_id = q.query_id) AS last_rank
        FROM query q JOIN pair p USING (query_id) LEFT JOIN consensus c USING (pair_id)
          LEFT JOIN clip_fault f USING (moment_id)
        GROUP BY q.query_id ORDER BY q.position
        """
    )
    return [
        QueryReview(
            query_id=QueryId(r["query_id"]),
            query=r["text"],
            split=Split(r["split"]),
            pairs=r["pairs"],
            settled=r["settled"] or 0,
            escalated=r["escalated"] or 0,
            discarded=r["discarded"] or 0,
            grades=r["grades"],
            relevances=tuple(relevances[r["query_id"]]),
            batches_open=r["batches"],
            more_candidates=r["last_rank"] > r["batches"] * batch_size
            and (r["settled"] or 0) + (r["blocked"] or 0) == r["pairs"],
        )
        for r in rows
    ]


def pairs_of_query(db: Database, query_id: QueryId) -> list[PairReview]:
    """All pairs of a query's open batches, in rank order."""
    return _pair_reviews(db, "p.query_id = :query ORDER BY p.rank", {"query": query_id})


def disagreements(db: Database) -> list[PairReview]:
    """Escalated, discarded and adjudicated pairs, the newest grade first."""
    return _pair_reviews(
        db,
        "c.verdict IN ('escalated', 'discarded', 'adjudicated') "
        "ORDER BY (SELECT max(graded_at) FROM judgement j WHERE j.pair_id = p.pair_id) DESC, p.pair_id",
        {},
    )


def blocked(db: Database) -> list[PairReview]:
    """Pairs whose clip cannot be shown; `reason` says why."""
    return _pair_reviews(db, "f.moment_id IS NOT NULL ORDER BY f.reported_at DESC, p.pair_id", {})


def settled_pairs(db: Database) -> list[PairReview]:
    """Every pair that has a relevance, by query and rank: what a release holds."""
    return _pair_reviews(db, "c.relevance IS NOT NULL ORDER BY q.position, p.rank", {})


def all_pairs(db: Database) -> list[PairReview]:
    """Every pair handed out, by pair id."""
    return _pair_reviews(db, "TRUE ORDER BY p.pair_id", {})


def _pair_reviews(db: Database, where: str, values: dict[str, Any]) -> list[PairReview]:
    """Pairs that fulfil a condition, with their standing grades."""
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.query_id, q.text AS query, v.name AS video, m.start_s, m.end_s, p.rank, "
        "p.similarity, coalesce(c.verdict, 'open') AS verdict, c.relevance, c.mean, "
        "coalesce(f.reason, (SELECT reason FROM adjudication a WHERE a.pair_id = p.pair_id "
        "  ORDER BY revision DESC LIMIT 1), '') AS reason, "
        "(SELECT k.text FROM caption k WHERE k.moment_id = p.moment_id AND k.kind = 'published' "
        "  ORDER BY k.caption_id LIMIT 1) AS caption "
        "FROM pair p JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
        f"WHERE {where}",
        values,
    ).fetchall()
    grades = _grades(db, [row["pair_id"] for row in rows])
    return [
        PairReview(
            pair=PairKey(r["pair_key"]),
            pair_id=PairId(r["pair_id"]),
            query_id=QueryId(r["query_id"]),
            query=r["query"],
            video=r["video"],
            start_s=r["start_s"],
            end_s=r["end_s"],
            caption=r["caption"],
            rank=r["rank"],
            similarity=r["similarity"],
            verdict=Verdict(r["verdict"]),
            relevance=r["relevance"],
            mean=r["mean"],
            grades=tuple(grades.get(r["pair_id"], ())),
            reason=r["reason"],
        )
        for r in rows
    ]


def _grades(db: Database, pair_ids: Sequence[int]) -> dict[int, list[GivenGrade]]:
    """Standing grades by pair, in seat order."""
    wanted = set(pair_ids)
    found: dict[int, list[GivenGrade]] = defaultdict(list)
    # One pass is quicker than a query a pair for lists, a lookup quicker for a handful.
    marks = f"WHERE s.pair_id IN ({', '.join('?' * len(wanted))})" if len(wanted) <= 500 else ""
    for r in db.conn.execute(
        "SELECT s.pair_id, a.name, s.grade, s.seat_no, s.graded_at, s.active_ms FROM standing s "
        f"JOIN annotator a USING (annotator_id) {marks} ORDER BY s.pair_id, s.seat_no",
        list(wanted) if marks else [],
    ):
        if r[0] in wanted:
            found[r[0]].append(GivenGrade(r[1], r[2], 1 if r[3] <= 2 else 2, r[4], r[5]))
    return found
