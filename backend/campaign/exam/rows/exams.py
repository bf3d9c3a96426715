"""Exams and their items."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.corpus.rows import WHOLE
from backend.ground.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.store.engine import Database


@dataclass(frozen=True, slots=True)
class Exam:
    """One exam.

    `source` is `settled pairs` or the name of a file; at most `most_missed` percent of the answers may be farther from
    the key than `tolerance`, which is that of the campaign.
    """

    exam_id: int
    set_at: float
    set_by: str | None
    source: str
    seed: int | None
    most_missed: float
    tolerance: int
    items: int
    queries: int
    showable: int
    """Items whose clip can be shown."""


@dataclass(frozen=True, slots=True)
class Place:
    """An item of an exam, with what one attempt has of it."""

    item_id: int
    query_id: QueryId
    query: str
    pair_id: PairId
    pair_key: PairKey
    duration_s: float
    whole: bool
    right: int
    explanation: str
    blocked: bool
    own: int | None
    again: int | None


def held(db: Database) -> Exam | None:
    """The exam that people have to pass just now, if there is one."""
    row = db.conn.execute(
        "SELECT e.exam_id, e.set_at, a.name, e.source, e.seed, e.most_missed, "
        "(SELECT tolerance FROM campaign), count(*), count(DISTINCT p.query_id), "
        "sum(f.moment_id IS NULL) FROM exam e LEFT JOIN annotator a ON a.annotator_id = e.set_by "
        "JOIN exam_item i USING (exam_id) JOIN pair p USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
        "WHERE e.ended_at IS NULL GROUP BY e.exam_id"
    ).fetchone()
    return Exam(*row) if row else None


def end(db: Database, *, at: float) -> int | None:
    """End the exam that is held; its number, None if there is none."""
    row = db.conn.execute("UPDATE exam SET ended_at = ? WHERE ended_at IS NULL RETURNING exam_id", [at]).fetchone()
    return row[0] if row else None


def add(
    db: Database,
    items: Iterable[tuple[PairId, int, str]],
    *,
    at: float,
    by: AnnotatorId | None,
    source: str,
    seed: int | None,
    most_missed: float,
) -> int:
    """A new exam with its (pair, right grade, explanation); its number."""
    cursor = db.conn.execute(
        "INSERT INTO exam (set_at, set_by, source, seed, most_missed) VALUES (?, ?, ?, ?, ?)",
        [at, by, source, seed, most_missed],
    )
    exam_id = int(cursor.lastrowid or 0)
    db.conn.executemany(
        "INSERT INTO exam_item (exam_id, pair_id, right_grade, explanation) VALUES (?, ?, ?, ?)",
        ((exam_id, *item) for item in items),
    )
    return exam_id


def explain(db: Database, item_id: int, explanation: str) -> PairId | None:
    """Write why the right grade of an item is right; its pair, None if there is no such item."""
    row = db.conn.execute(
        "UPDATE exam_item SET explanation = ? WHERE item_id = ? RETURNING pair_id", [explanation, item_id]
    ).fetchone()
    return PairId(row[0]) if row else None


def is_item(db: Database, pair_id: PairId) -> bool:
    """Whether a pair is an item of the exam that is held."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM exam_item JOIN exam USING (exam_id) WHERE pair_id = ? AND ended_at IS NULL)",
        [pair_id],
    ).fetchone()
    return bool(row[0])


def places(db: Database, exam_id: int, attempt_id: int = 0) -> list[Place]:
    """The items of an exam, in no particular order, each with the answers of an attempt that count."""
    newest = (
        "(SELECT grade FROM exam_answer n WHERE n.attempt_id = :attempt AND n.item_id = i.item_id AND n.again = {} "
        "ORDER BY n.revision DESC LIMIT 1)"
    )
    rows = db.conn.execute(
        "SELECT i.item_id, p.query_id, q.text, p.pair_id, p.pair_key, m.end_s - m.start_s, "
        f"{WHOLE}, i.right_grade, i.explanation, f.moment_id IS NOT NULL, {newest.format(0)}, {newest.format(1)} "
        "FROM exam_item i JOIN pair p USING (pair_id) JOIN query q USING (query_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id) "
        "WHERE i.exam_id = :exam ORDER BY i.item_id",
        {"exam": exam_id, "attempt": attempt_id},
    )
    return [
        Place(
            *(r[0], QueryId(r[1]), r[2], PairId(r[3]), PairKey(r[4]), r[5]),
            *(bool(r[6]), r[7], r[8], bool(r[9]), r[10], r[11]),
        )
        for r in rows
    ]
