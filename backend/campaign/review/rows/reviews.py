"""SQL for reviews of queries and of pairs, with the grades and decisions behind each verdict. Reads only."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from backend.campaign.judging.model import ActKind, SkipKind
from backend.campaign.judging.rules import too_fast
from backend.campaign.nouns import Split, Verdict
from backend.campaign.review.model import (
    MODEL_SEEN,
    GivenAct,
    GivenGrade,
    GivenNote,
    GivenReply,
    GivenSkip,
    PairReview,
    QueryReview,
)
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.selection.candidates.model import CandidateSource, FoundBy, SourceKind
from backend.campaign.selection.candidates.rows import PROBE_PAIRS, STILL_LISTED
from backend.core.days import within_a_day
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.core.messages import from_stored
from backend.store.engine import Database

_AT_ONCE = 500
"""How many pairs one statement asks for."""
_TIMES = "FROM judgement j WHERE j.pair_id = s.pair_id AND j.seat_no = s.seat_no"
_ACTIVE_MS = f"(SELECT sum(j.active_ms) {_TIMES})"
"""Active time of a grade with all its corrections. Somebody who corrects a slip has seen the clip before."""
_ELAPSED_MS = f"(SELECT CASE WHEN count(j.elapsed_ms) = count(*) THEN sum(j.elapsed_ms) END {_TIMES})"
_SOURCE = "source_id, kind, name, sha256, depth, part"
_RELEASED = f"p.pair_id NOT IN {PROBE_PAIRS}"


def query_reviews(db: Database, query_id: QueryId | None = None) -> list[QueryReview]:
    """Return every query with an open batch, in the order in which queries are handed out.

    A batch is a group of a query's candidates that is handed out for grading together. With `query_id`, return only
    that query, or nothing if it has no open batch.
    """
    return _query_reviews(db, "", {}) if query_id is None else reviews_of(db, [query_id])


def reviews_of(db: Database, query_ids: Sequence[QueryId]) -> list[QueryReview]:
    """Return the given queries in the order in which they are handed out, without those that have no open batch.

    A batch is a group of a query's candidates that is handed out for grading together.
    """
    return _query_reviews(db, "AND p.query_id IN (SELECT value FROM json_each(:ids))", {"ids": json.dumps(query_ids)})


def _query_reviews(db: Database, only: str, values: Mapping[str, str]) -> list[QueryReview]:
    relevances: dict[int, list[int | None]] = defaultdict(list)
    for row in db.conn.execute(
        "SELECT p.query_id, c.relevance FROM pair p JOIN batch b USING (batch_id) "
        "LEFT JOIN consensus c USING (pair_id) "
        f"WHERE b.number IS NOT NULL AND b.part = 1 {only} ORDER BY p.query_id, p.rank",
        values,
    ):
        relevances[row[0]].append(row[1])
    rows = db.conn.execute(
        f"""
        SELECT q.query_id, q.text, q.split, count(*) AS pairs, sum(p.settled) AS settled, sum(p.escalated) AS escalated,
          sum(p.discarded) AS discarded, sum(p.blocked) AS blocked, sum(p.grades) AS grades,
          (SELECT count(b.number) FROM batch b WHERE b.query_id = q.query_id) AS batches,
          {STILL_LISTED.format(query="q.query_id")} AS still_listed
        FROM query q JOIN (
          SELECT p.query_id, coalesce(c.verdict IN ('consensus', 'discarded', 'adjudicated'), 0) AS settled,
            c.verdict IS 'escalated' AS escalated, c.verdict IS 'discarded' AS discarded,
            f.moment_id IS NOT NULL AND coalesce(c.verdict, 'open') IN ('open', 'escalated') AS blocked,
            (SELECT count(*) FROM seat s WHERE s.pair_id = p.pair_id AND s.annotator_id IS NOT NULL
              AND s.lease_until IS NULL) AS grades
          FROM pair p JOIN batch b USING (batch_id) LEFT JOIN consensus c USING (pair_id)
            LEFT JOIN clip_fault f USING (moment_id)
          WHERE b.number IS NOT NULL {only}
        ) AS p USING (query_id) GROUP BY q.query_id ORDER BY q.position
        """,
        values,
    )
    speak = batches_rows.versions(db)[-1].rule.last
    return [
        QueryReview(
            query_id=QueryId(r["query_id"]),
            query=r["text"],
            split=Split(r["split"]),
            pairs=r["pairs"],
            settled=r["settled"],
            escalated=r["escalated"],
            discarded=r["discarded"],
            grades=r["grades"],
            relevances=tuple(relevances[r["query_id"]]),
            batches_open=r["batches"],
            more_candidates=r["still_listed"] > 0 and r["settled"] + r["blocked"] == r["pairs"],
            speak=speak,
        )
        for r in rows
    ]


def pairs_of_query(db: Database, query_id: QueryId) -> list[PairReview]:
    """Return all pairs of a query's open batches and of its probe, in rank order.

    A probe is a sample of moments down to low ranks, graded to learn down to which rank grading is worthwhile.
    """
    return _pair_reviews(db, "p.query_id = :query ORDER BY p.rank", {"query": query_id})


def noted(db: Database) -> list[PairReview]:
    """Return the pairs on which annotators have a current note, ordered by their newest note, newest first."""
    return _pair_reviews(
        db,
        "p.pair_id IN (SELECT pair_id FROM standing_note) ORDER BY "
        "(SELECT max(judgement_id) FROM standing_note n WHERE n.pair_id = p.pair_id) DESC",
        {},
    )


def by_key(db: Database, key: PairKey) -> PairReview | None:
    """Return the pair with this key for review, or None if there is no such pair."""
    return next(iter(_pair_reviews(db, "p.pair_key = ?", [key])), None)


def by_id(db: Database, pair_ids: Sequence[PairId]) -> list[PairReview]:
    """Return the pairs with these ids, in the given order; unknown ids are left out. Meant for one page of pairs."""
    places = ", ".join("?" * len(pair_ids))
    found = {pair.pair_id: pair for pair in _pair_reviews(db, f"p.pair_id IN ({places})", pair_ids)}
    return [found[pair_id] for pair_id in pair_ids if pair_id in found]


def saw_model(db: Database, pair_id: PairId, lead_id: AnnotatorId) -> bool:
    """Return whether this lead has opened what a model said about the pair."""
    sql = "SELECT EXISTS (SELECT 1 FROM event WHERE kind = ? AND subject = ? AND actor = ?)"
    return bool(db.conn.execute(sql, [MODEL_SEEN.kind, f"pair:{pair_id}", lead_id]).fetchone()[0])


def settled_moments(db: Database, split: Split) -> list[tuple[int, str, float, float, int]]:
    """Return (query id, video, start, end, relevance) of every pair of a split that has a relevance, by query and rank.

    Queries are in the order in which they are handed out, as in a release. Start and end are in seconds. Probe pairs
    are left out: they are graded only to learn down to which rank grading is worthwhile.
    """
    return [
        tuple(row)
        for row in db.conn.execute(
            "SELECT p.query_id, v.name, m.start_s, m.end_s, c.relevance FROM consensus c JOIN pair p USING (pair_id) "
            "JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
            f"WHERE c.relevance IS NOT NULL AND q.split = ? AND {_RELEASED} ORDER BY q.position, p.rank",
            [split.value],
        )
    ]


def any_settled(db: Database, split: Split) -> bool:
    """Return whether any pair of this split has a relevance.

    Probe pairs do not count: they are graded only to learn down to which rank grading is worthwhile.
    """
    return bool(
        db.conn.execute(
            "SELECT EXISTS (SELECT 1 FROM consensus c JOIN pair p USING (pair_id) JOIN query q USING (query_id) "
            f"WHERE c.relevance IS NOT NULL AND q.split = ? AND {_RELEASED})",
            [split.value],
        ).fetchone()[0]
    )


def all_pairs(db: Database) -> list[PairReview]:
    """Return every pair of every query, ordered by query and rank, without probe pairs.

    Probe pairs are graded only to learn down to which rank grading is worthwhile. Ids of pairs are in random order, so
    they do not give this order.
    """
    return _pair_reviews(db, f"{_RELEASED} ORDER BY p.query_id, p.rank, p.pair_id", {})


def _pair_reviews(db: Database, where: str, values: dict[str, Any] | Sequence[Any]) -> list[PairReview]:
    """Return the pairs that fulfil an SQL condition, with grades, refusals to grade, lead decisions and verdicts."""
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.query_id, q.text AS query, v.name AS video, m.start_s, m.end_s, p.rank, "
        "p.similarity, coalesce(c.verdict, 'open') AS verdict, c.relevance, c.mean, "
        "coalesce(f.reason, '') AS fault, coalesce(b.number, 0) AS batch, b.part, "
        "(SELECT k.text FROM caption k WHERE k.moment_id = p.moment_id AND k.kind = 'published' "
        "  ORDER BY k.caption_id LIMIT 1) AS caption "
        "FROM pair p JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "JOIN batch b USING (batch_id) LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
        f"WHERE {where}",
        values,
    ).fetchall()
    grades = _grades(db, {row["pair_id"]: row["end_s"] - row["start_s"] for row in rows})
    ids = [row["pair_id"] for row in rows]
    acts, skips, found_by = _acts(db, ids), _skips(db, ids), _found_by(db, ids)
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
            acts=tuple(acts.get(r["pair_id"], ())),
            fault=from_stored(r["fault"]),
            skips=tuple(skips.get(r["pair_id"], ())),
            probe=r["batch"] == 0,
            batch=r["batch"],
            part=r["part"],
            found_by=tuple(found_by.get(r["pair_id"], {}).values()),
        )
        for r in rows
    ]


def _grades(db: Database, duration_s: Mapping[int, float]) -> dict[int, list[GivenGrade]]:
    """Return the current grades of each pair, by pair id, ordered by the annotators' seats (places on the pair).

    `duration_s` maps the id of each wanted pair to the length of its clip, in seconds.
    """
    grades: dict[int, list[GivenGrade]] = defaultdict(list)
    ids = list(duration_s)
    notes = _notes(db, ids)
    for start in range(0, len(ids), _AT_ONCE):
        page = ids[start : start + _AT_ONCE]
        for r in db.conn.execute(
            f"SELECT s.pair_id, a.name, s.grade, s.seat_no, s.graded_at, {_ACTIVE_MS}, {_ELAPSED_MS}, s.annotator_id "
            "FROM standing s "
            f"JOIN annotator a USING (annotator_id) WHERE s.pair_id IN ({', '.join('?' * len(page))}) "
            "ORDER BY s.pair_id, s.seat_no",
            page,
        ):
            hasty = r[6] is not None and too_fast(min(r[5], r[6]), duration_s[r[0]])
            note = notes.get((r[0], r[7]))
            (active_ms,) = within_a_day(r[5])
            grades[r[0]].append(GivenGrade(r[1], r[2], (r[3] + 1) // 2, r[4], active_ms, hasty, note))
    return grades


def _found_by(db: Database, ids: Sequence[int]) -> dict[int, dict[int, FoundBy]]:
    """Return which candidate sources found each pair, as a mapping {pair id: {source id: where it was found}}.

    A source is an encoder of captions, or a run of a search system. If a source found several time spans for one pair,
    only its best rank is returned.

    To save time, the result is empty for more than `_AT_ONCE` pairs if all sources are encoders of captions. Each
    pair's own rank then tells where it was found.
    """
    condition, values = _page_condition(ids, "p.pair_id")
    known = {r[0]: CandidateSource(SourceKind(r[1]), *r[2:]) for r in db.conn.execute(f"SELECT {_SOURCE} FROM source")}
    if not values and all(source.kind is SourceKind.CAPTIONS for source in known.values()):
        return {}
    by_pair: dict[int, dict[int, FoundBy]] = defaultdict(dict)
    for pair_id, source_id, rank, score in db.conn.execute(
        "SELECT p.pair_id, source_id, f.rank, f.score FROM pair p "
        "JOIN candidate_source f USING (query_id, moment_id) JOIN source s USING (source_id) "
        f"WHERE {condition} ORDER BY p.pair_id, f.rank, s.part, s.name",
        values,
    ):
        by_pair[pair_id].setdefault(source_id, FoundBy(known[source_id], rank, score))
    return by_pair


def _page_condition(ids: Sequence[int], column: str) -> tuple[str, Sequence[int]]:
    """Return (SQL condition, values) that selects these pairs by id.

    For more than `_AT_ONCE` pairs the condition selects every pair, because the statement would get too long.
    """
    if len(ids) > _AT_ONCE:
        return "TRUE", ()
    return f"{column} IN ({', '.join('?' * len(ids))})", ids


def _notes(db: Database, ids: Sequence[int]) -> dict[tuple[int, int], GivenNote]:
    """Return the current notes on these pairs, each with its newest reply, by (pair id, annotator id)."""
    where, values = _page_condition(ids, "n.pair_id")
    rows = db.conn.execute(
        "SELECT n.pair_id, n.annotator_id, n.judgement_id, n.text, r.reply_id, a.name, r.text, r.replied_at "
        "FROM standing_note n LEFT JOIN note_reply r ON r.reply_id = "
        "(SELECT max(reply_id) FROM note_reply l WHERE l.judgement_id = n.judgement_id) "
        f"LEFT JOIN annotator a ON a.annotator_id = r.lead_id WHERE {where}",
        values,
    )
    return {(r[0], r[1]): GivenNote(r[2], r[3], GivenReply(r[4], r[5], r[6], r[7]) if r[4] else None) for r in rows}


def _acts(db: Database, ids: Sequence[int]) -> dict[int, list[GivenAct]]:
    """Return everything that leads decided or took back about these pairs, by pair id, the oldest first."""
    by_pair: dict[int, list[GivenAct]] = defaultdict(list)
    where, values = _page_condition(ids, "d.pair_id")
    for r in db.conn.execute(
        "SELECT d.pair_id, coalesce(a.name, 'an earlier campaign'), d.kind, d.relevance, d.reason, d.at, d.stands "
        "FROM lead_act d LEFT JOIN annotator a ON a.annotator_id = d.lead_id "
        f"WHERE {where} ORDER BY d.pair_id, d.revision",
        values,
    ):
        by_pair[r[0]].append(GivenAct(r[1], ActKind(r[2]), r[3], r[4], r[5], bool(r[6])))
    return by_pair


def _skips(db: Database, ids: Sequence[int]) -> dict[int, list[GivenSkip]]:
    """Return annotators' refusals to grade these pairs that are still in force, by pair id, the oldest first."""
    by_pair: dict[int, list[GivenSkip]] = defaultdict(list)
    where, values = _page_condition(ids, "k.pair_id")
    for r in db.conn.execute(
        "SELECT k.pair_id, a.name, k.kind, k.reason, k.skipped_at FROM skip k JOIN annotator a USING (annotator_id) "
        f"WHERE k.lifted_at IS NULL AND {where} ORDER BY k.skip_id",
        values,
    ):
        by_pair[r[0]].append(GivenSkip(r[1], SkipKind(r[2]), r[3], r[4]))
    return by_pair
