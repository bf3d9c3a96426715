"""SQL for the import of an earlier campaign: read and add rows in bulk.

Every function runs inside the transaction of `importing`. Rows are given as iterables, because there are hundreds of
thousands of them.
"""

import secrets
from collections.abc import Collection, Iterable
from typing import NamedTuple

from backend.campaign.judging.model import JUDGEMENTS_IMPORTED
from backend.campaign.nouns import Person, Role, Split
from backend.campaign.release.earlier.model import ENCODER, Span
from backend.store.engine import Database

KnownPair = tuple[str, Span]
"""(query, moment)"""


class NewPair(NamedTuple):
    """A pair to add to the database. If only its id is known, all other fields are None."""

    pair_id: int
    batch_id: int | None = None
    query_id: int | None = None
    moment_id: int | None = None
    rank: int | None = None
    similarity: float | None = None


class NewSeat(NamedTuple):
    """A seat (an annotator's place on a pair) to add: with the annotator who graded, or free.

    `seat_no` counts from 1. `annotator_id` is None for a free seat. `repeat` says whether the annotator also graded the
    pair at an earlier seat.
    """

    pair_id: int
    seat_no: int
    annotator_id: int | None = None
    repeat: bool = False


class NewJudgement(NamedTuple):
    """A judgement (stored grade) to add to the database.

    `graded_at` is in seconds since 1970. `active_ms` is the work time, and `elapsed_ms` the time from the first frame
    to the key press, in milliseconds. `contexts` is how often the annotator looked at the video around the clip.
    """

    pair_id: int
    seat_no: int
    annotator_id: int
    grade: int
    graded_at: float
    active_ms: int
    elapsed_ms: int | None
    contexts: int
    event_key: str
    simulated: bool


def subject(digest: str) -> str:
    """Return the text that identifies an import of the file with this SHA-256 in the event log."""
    return f"judgements:{digest[:16]}"


def imported_at(db: Database, digest: str) -> float | None:
    """Return when the file with this SHA-256 was imported (seconds since 1970); None if it was not."""
    row = db.conn.execute(
        "SELECT at FROM event WHERE subject = ? AND kind = ?",
        [subject(digest), JUDGEMENTS_IMPORTED.kind],
    ).fetchone()
    return row[0] if row else None


def known_pairs(db: Database) -> dict[int, KnownPair | None]:
    """Return the (query text, moment) of every pair, by pair id; None for a pair whose query and moment are unknown."""
    rows = db.conn.execute(
        "SELECT p.pair_id, q.text, v.name, m.start_s, m.end_s FROM pair p LEFT JOIN query q USING (query_id) "
        "LEFT JOIN moment m USING (moment_id) LEFT JOIN video v USING (video_id)"
    )
    return {r[0]: None if r[1] is None else (r[1], (r[2], r[3], r[4])) for r in rows}


def judged_pairs(db: Database) -> set[int]:
    """Return the ids of the pairs that have a judgement."""
    return {row[0] for row in db.conn.execute("SELECT DISTINCT pair_id FROM judgement")}


def moment_ids(db: Database) -> dict[Span, int]:
    """Return the id of every moment, by (video, start, end)."""
    rows = db.conn.execute("SELECT name, start_s, end_s, moment_id FROM moment JOIN video USING (video_id)")
    return {(r[0], r[1], r[2]): r[3] for r in rows}


def person_ids(db: Database) -> set[int]:
    """Return the ids of all users."""
    return {row[0] for row in db.conn.execute("SELECT annotator_id FROM annotator")}


def batch_ids(db: Database) -> dict[tuple[int, int], int]:
    """Return the id of every batch by (query, number of the batch within the query)."""
    rows = db.conn.execute("SELECT query_id, number, batch_id FROM batch")
    return {(row[0], row[1]): row[2] for row in rows}


def verdicts(db: Database) -> dict[int, tuple[str, int | None]]:
    """Return the (verdict, relevance) of each pair by pair id. Pairs without a verdict yet are left out.

    A verdict is the outcome of grading, such as `consensus` or `discarded`.
    """
    rows = db.conn.execute("SELECT pair_id, verdict, relevance FROM consensus")
    return {row[0]: (row[1], row[2]) for row in rows}


def add_people(db: Database, people: Iterable[tuple[Person, bool]], *, at: float) -> None:
    """Add annotators, given as (person, whether they are simulated)."""
    db.conn.executemany(
        "INSERT INTO annotator (annotator_id, name, role, simulated, created_at) VALUES (?, ?, ?, ?, ?)",
        ((p.annotator_id, p.name, Role.ANNOTATOR.value, int(simulated), at) for p, simulated in people),
    )


def add_queries(db: Database, queries: Iterable[tuple[int, str, int | None, Split]], source: str) -> None:
    """Add queries, given as (id, text, caption id, split), to be handed out after all others.

    A query without a caption gets the name of its file, `source`, as its source.
    """
    last: int = db.conn.execute("SELECT coalesce(max(position), 0) FROM query").fetchone()[0]
    db.conn.executemany(
        "INSERT INTO query (query_id, text, caption_id, split, position, source) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (query_id, text, caption_id, split.value, position, source if caption_id is None else "")
            for position, (query_id, text, caption_id, split) in enumerate(queries, start=last + 1)
        ),
    )


def add_batches(db: Database, batches: Iterable[tuple[int, int]], *, at: float) -> None:
    """Add open batches, given as (query id, number of the batch within the query)."""
    db.conn.executemany(
        "INSERT INTO batch (query_id, number, opened_at) VALUES (?, ?, ?)",
        ((query_id, number, at) for query_id, number in batches),
    )


def close_gaps(db: Database) -> None:
    """Renumber the batches of each query 1, 2, 3, ... without gaps.

    Gaps arise because batches are numbered by rank, and pairs from a later pooling (adding the top predictions of runs)
    have much higher ranks.
    """
    db.conn.execute(
        "UPDATE batch SET number = (SELECT count(*) FROM batch o WHERE o.query_id = batch.query_id "
        "AND o.number <= batch.number) WHERE number IS NOT NULL"
    )


def add_pairs(db: Database, pairs: Iterable[NewPair]) -> None:
    """Add pairs, without seats (annotators' places on them)."""
    db.conn.executemany(
        "INSERT INTO pair (pair_key, pair_id, batch_id, query_id, moment_id, rank, similarity, encoder) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((secrets.token_urlsafe(12), *pair, None if pair.similarity is None else ENCODER) for pair in pairs),
    )


def remove_seats(db: Database, pair_ids: Collection[int]) -> None:
    """Remove the seats (annotators' places) of pairs without judgements, so that imported seats can replace them."""
    db.conn.executemany("DELETE FROM seat WHERE pair_id = ?", ((pair_id,) for pair_id in pair_ids))


def add_seats(db: Database, seats: Iterable[NewSeat]) -> None:
    """Add seats (annotators' places on pairs), graded or free."""
    db.conn.executemany("INSERT INTO seat (pair_id, seat_no, annotator_id, repeat) VALUES (?, ?, ?, ?)", seats)


def add_judgements(db: Database, judgements: Iterable[NewJudgement]) -> None:
    """Add imported judgements; their seats must exist."""
    db.conn.executemany(
        "INSERT INTO judgement (pair_id, seat_no, annotator_id, grade, graded_at, active_ms, elapsed_ms, contexts, "
        "event_key, simulated, revision, imported) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1)",
        judgements,
    )
