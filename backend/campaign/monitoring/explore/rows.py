"""SQL that counts and lists judged pairs for the page Explore.

Reads only. Pairs that are graded only for a probe (a sample that tells how deep judging must go) are always left out.
"""

import json
from typing import Any

from backend.campaign.monitoring.explore.model import BinnedBy, FoundPair, PairPart, SourceStanding
from backend.campaign.monitoring.explore.rules import CONFIRMED, SAME_WORDS, SECONDS, SIMILARITY_STEP
from backend.campaign.nouns import FIRST_ROUND_SEATS, Verdict
from backend.campaign.selection.candidates.model import CandidateSource, SourceKind
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.campaign.selection.queries.model import QUERIES_DRAWN
from backend.core.ids import PairId, QueryId
from backend.store.engine import Database
from backend.store.events import newest

_PLACES = {
    # The margin catches bounds that rounding of floats missed. 1 is added because CAST rounds negatives towards 0.
    BinnedBy.SIMILARITY: f"CASE WHEN p.similarity >= {SAME_WORDS} THEN {round(1 / SIMILARITY_STEP)} "
    f"ELSE CAST((p.similarity + 1) / {SIMILARITY_STEP} + 1e-6 AS INTEGER) - {round(1 / SIMILARITY_STEP)} END",
    BinnedBy.RANK: "p.rank",
    BinnedBy.DURATION: "CASE "
    + " ".join(f"WHEN m.end_s - m.start_s < {beyond} THEN {place}" for place, beyond in enumerate(SECONDS[1:], start=0))
    + f" ELSE {len(SECONDS) - 1} END",
}
"""SQL for the bin of a pair, by property."""
_IN_BATCHES = f"p.query_id IS NOT NULL AND p.pair_id NOT IN {PROBE_PAIRS}"
_FOUND = (
    "FROM pair p JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
    "LEFT JOIN consensus c USING (pair_id)"
)


def version(db: Database) -> str:
    """Return a text that changes whenever the tables that this module counts change.

    It tells which events and judgements there are. Both are only ever added, never changed.
    """
    row = db.conn.execute(f"SELECT {newest('event', 'event_id')}, {newest('judgement', 'judgement_id')}")
    return "-".join(str(part or 0) for part in row.fetchone())


def fates(db: Database) -> list[tuple[str, int, int]]:
    """Count pairs by verdict and number of annotators: rows of (verdict, annotators asked, number of pairs).

    The verdict is `CONFIRMED` for discarded pairs that a lead confirmed as discarded. Pairs without a verdict are
    counted as open, with two annotators asked. Pairs that are graded only for a probe, which tells how deep judging
    must go, are left out.
    """
    found: list[tuple[str, int, int]] = [
        tuple(row)
        for row in db.conn.execute(
            "SELECT CASE WHEN c.verdict = 'discarded' AND c.pair_id IN (SELECT pair_id FROM confirmed_discard) "
            f"THEN '{CONFIRMED}' ELSE c.verdict END, "
            f"(SELECT coalesce(max(seat_no), {len(FIRST_ROUND_SEATS)}) FROM seat s WHERE s.pair_id = c.pair_id), "
            f"count(*) FROM consensus c WHERE c.pair_id NOT IN {PROBE_PAIRS} GROUP BY 1, 2"
        )
    ]
    pairs: int = db.conn.execute(f"SELECT count(*) FROM pair p WHERE p.pair_id NOT IN {PROBE_PAIRS}").fetchone()[0]
    return [*found, ("open", len(FIRST_ROUND_SEATS), pairs - sum(count for _, _, count in found))]


def relevances(db: Database, along: BinnedBy) -> list[tuple[int, int | None, int]]:
    """Return rows of (bin number, relevance or None, number of pairs), over all pairs that were given to annotators.

    `along` is the property that defines the bins. Bins of similarity leave out pairs whose similarity is unknown.
    """
    moment = "JOIN moment m USING (moment_id)" if along is BinnedBy.DURATION else ""
    known = "AND p.similarity IS NOT NULL" if along is BinnedBy.SIMILARITY else ""
    return [
        tuple(row)
        for row in db.conn.execute(
            f"SELECT {_PLACES[along]} AS place, c.relevance, count(*) FROM pair p {moment} "
            f"LEFT JOIN consensus c USING (pair_id) WHERE {_IN_BATCHES} {known} GROUP BY 1, 2"
        )
    ]


def same_words(db: Database) -> dict[int | None, int]:
    """Map each relevance to its number of pairs, over pairs whose query and caption have similarity 1.

    The key None counts pairs that have no relevance.
    """
    return dict(
        db.conn.execute(
            "SELECT c.relevance, count(*) FROM pair p LEFT JOIN consensus c USING (pair_id) "
            f"WHERE p.similarity >= {SAME_WORDS} AND {_IN_BATCHES} GROUP BY 1"
        ).fetchall()
    )


def found_count(db: Database, part: PairPart, highest: int) -> int:
    """Return how many pairs fulfil the conditions in `part`. `highest` is the highest relevance of the scale."""
    where, values = _where(part, highest)
    count: int = db.conn.execute(f"SELECT count(*) {_FOUND} WHERE {where}", values).fetchone()[0]
    return count


def found_pairs(db: Database, part: PairPart, highest: int, first: int, most: int) -> list[FoundPair]:
    """Return pairs that fulfil the conditions in `part`, sorted by query and rank.

    The first `first` pairs are skipped, and at most `most` are returned. `highest` is the highest relevance of the
    scale.
    """
    where, values = _where(part, highest)
    rows = db.conn.execute(
        "SELECT p.pair_id, q.query_id, q.text, v.name, m.start_s, m.end_s, p.rank, p.similarity, "
        f"coalesce(c.verdict, 'open'), c.relevance, c.mean {_FOUND} WHERE {where} "
        "ORDER BY q.position, p.rank LIMIT :most OFFSET :first",
        {**values, "first": first, "most": most},
    )
    return [
        FoundPair(PairId(r[0]), QueryId(r[1]), r[2], r[3], r[4], r[5], r[6], r[7], Verdict(r[8]), r[9], r[10])
        for r in rows
    ]


def sources(db: Database) -> list[SourceStanding]:
    """Return for each source of candidates how many it found, how many became pairs, and their relevances.

    A source is an encoder's search or a submitted run. A run that was submitted twice is listed twice. But it counts as
    one source when `alone` is counted: the candidates that no other source found.
    """
    rows = db.conn.execute(
        f"""
        WITH f AS (SELECT DISTINCT source_id, query_id, moment_id FROM candidate_source),
          n AS (SELECT f.query_id, f.moment_id, count(DISTINCT s.kind || ' ' || s.name) AS sources
            FROM f JOIN source s USING (source_id) GROUP BY 1, 2)
        SELECT s.kind, s.name, s.sha256, s.depth, s.part, count(f.query_id), coalesce(sum(n.sources = 1), 0),
          count(p.pair_id), count(c.relevance), coalesce(sum(c.relevance > 0), 0),
          coalesce(sum(c.relevance > 0 AND n.sources = 1), 0), coalesce(sum(c.relevance), 0)
        FROM source s LEFT JOIN f USING (source_id) LEFT JOIN n USING (query_id, moment_id)
          LEFT JOIN pair p ON p.query_id = f.query_id AND p.moment_id = f.moment_id AND {_IN_BATCHES}
          LEFT JOIN consensus c USING (pair_id)
        GROUP BY s.source_id ORDER BY s.part, s.kind, s.name
        """
    )
    return [SourceStanding(CandidateSource(SourceKind(r[0]), *r[1:5]), *r[5:]) for r in rows]


def coverage(db: Database) -> list[tuple[Any, ...]]:
    """Return (video_id, name, duration_s, moments, handed out, pairs, queries, decided, relevant, sum) of all videos.

    There is one row for each video, sorted by name. `moments` counts its moments in the project, and `handed out` those
    that are in a pair for annotators. `pairs` and `queries` count its pairs and their queries. `decided` counts the
    pairs with a relevance, and `relevant` those of relevance 1 or more. `sum` is the sum of the relevances.
    """
    return [
        tuple(row)
        for row in db.conn.execute(
            "SELECT v.video_id, v.name, v.duration_s, coalesce(m.moments, 0), coalesce(f.judged, 0), "
            "coalesce(f.pairs, 0), coalesce(f.queries, 0), coalesce(f.decided, 0), coalesce(f.relevant, 0), "
            "coalesce(f.total, 0) FROM video v "
            "LEFT JOIN (SELECT video_id, count(*) AS moments FROM moment GROUP BY video_id) m USING (video_id) "
            "LEFT JOIN (SELECT m.video_id, count(DISTINCT p.moment_id) AS judged, count(*) AS pairs, "
            "count(DISTINCT p.query_id) AS queries, count(c.relevance) AS decided, sum(c.relevance > 0) AS relevant, "
            "sum(c.relevance) AS total FROM pair p JOIN moment m USING (moment_id) "
            f"LEFT JOIN consensus c USING (pair_id) WHERE {_IN_BATCHES} GROUP BY m.video_id) f USING (video_id) "
            "ORDER BY v.name"
        )
    ]


def judged_queries(db: Database) -> dict[str, QueryId]:
    """Map the text of each validation or test query to its id. No two of these queries have the same text."""
    return dict(db.conn.execute("SELECT text, query_id FROM query WHERE split <> 'train'").fetchall())


def show_pattern(db: Database) -> str | None:
    """Return the regular expression that finds the TV show in a video's name; None if none was given.

    It was given as the option `--show-of` when queries were last drawn.
    """
    row = db.conn.execute(
        "SELECT payload ->> 'show_of' FROM event WHERE kind = ? ORDER BY event_id DESC LIMIT 1", [QUERIES_DRAWN.kind]
    ).fetchone()
    return row[0] if row else None


def moment_seconds(db: Database) -> tuple[list[float], list[float]]:
    """Return two lists of durations in seconds: of all moments, and of the moments given to annotators."""
    return _seconds(db, "m.end_s - m.start_s", "moment m"), _seconds(
        db,
        "m.end_s - m.start_s",
        f"moment m WHERE m.moment_id IN (SELECT p.moment_id FROM pair p WHERE {_IN_BATCHES})",
    )


def video_seconds(db: Database) -> tuple[list[float], list[float]]:
    """Return two lists of durations in seconds: of all videos, and of the videos with a moment given to annotators."""
    return _seconds(db, "v.duration_s", "video v"), _seconds(
        db,
        "v.duration_s",
        "video v WHERE v.video_id IN (SELECT m.video_id FROM pair p JOIN moment m USING (moment_id) "
        f"WHERE {_IN_BATCHES})",
    )


def _seconds(db: Database, expression: str, source: str) -> list[float]:
    # As one text, because a million rows would each be an object. Without rows SQLite gives `[]` and PostgreSQL NULL.
    # Rounded to nanoseconds, so that 2.9999999999999996 s is 3 s in PostgreSQL too, as SQLite writes only 15 digits.
    text = db.conn.execute(f"SELECT json_group_array(round({expression}, 9)) FROM {source}").fetchone()[0]
    return [float(seconds) for seconds in json.loads(text or "[]")]


def _where(part: PairPart, highest: int) -> tuple[str, dict[str, Any]]:
    conditions = [_IN_BATCHES]
    if part.along is not None and part.place is not None:
        conditions.append(f"{_PLACES[part.along]} = :place")
    if part.relevance is not None:
        conditions.append("c.relevance = :relevance")
    if part.video is not None:
        conditions.append("m.video_id = :video")
    if part.same_words:
        conditions.append(f"p.similarity >= {SAME_WORDS} AND c.relevance < :highest")
    values = {"place": part.place, "relevance": part.relevance, "video": part.video, "highest": highest}
    return " AND ".join(conditions), values
