"""The qualification exam: exams, their items, attempts, answers, and what leads decided about people."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.corpus.rows import WHOLE
from backend.campaign.exam.rules.drawing import Settled
from backend.campaign.nouns import Person, Role
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
class Attempt:
    """One person's attempt at one exam."""

    attempt_id: int
    exam_id: int
    annotator_id: AnnotatorId
    number: int
    key: str
    started_at: float
    handed_in_at: float | None
    read_at: float | None
    most_missed: float
    tolerance: int
    held: bool
    """Whether its exam is the one that is held now."""


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


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a lead decided last about a person."""

    kind: str
    reason: str
    after_attempt: int


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


def settled(db: Database, *, now: float, final_before: float) -> list[Settled]:
    """Pairs that may be items: a relevance that nobody can change by a grade any more, and a clip.

    Left out are pairs that somebody has on their desk, pairs that were graded after `final_before` (unless a lead
    decided), and those that the guideline shows with their grade.
    """
    rows = db.conn.execute(
        """
        SELECT p.query_id, p.pair_id, c.relevance FROM consensus c JOIN pair p USING (pair_id)
        JOIN moment m USING (moment_id) JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id)
        WHERE c.relevance IS NOT NULL AND f.moment_id IS NULL AND v.path IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.lease_until >= :now)
          AND NOT EXISTS (SELECT 1 FROM example x WHERE x.pair_id = p.pair_id AND x.withdrawn_at IS NULL)
          AND (c.verdict = 'adjudicated' OR NOT EXISTS (SELECT 1 FROM judgement j
            WHERE j.pair_id = p.pair_id AND j.graded_at > :final AND NOT j.imported AND NOT j.simulated))
        """,
        {"now": now, "final": final_before},
    )
    return [Settled(QueryId(row[0]), PairId(row[1]), row[2]) for row in rows]


def why_unfit(db: Database, pair_id: PairId, *, now: float) -> str:
    """Why a pair cannot be an item; an empty text if it can."""
    row = db.conn.execute(
        """
        SELECT c.verdict, v.path IS NULL, f.reason,
          EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.lease_until >= :now),
          EXISTS (SELECT 1 FROM example x WHERE x.pair_id = p.pair_id AND x.withdrawn_at IS NULL)
        FROM pair p JOIN moment m USING (moment_id) JOIN video v USING (video_id)
        LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) WHERE p.pair_id = :pair
        """,
        {"pair": pair_id, "now": now},
    ).fetchone()
    if row is None:
        return "is not a pair of this project with a known moment"
    verdict, no_video, fault, on_a_desk, example = row
    if verdict not in ("consensus", "adjudicated", "discarded"):
        return "is not settled: people may still have to grade it"
    if no_video or fault:
        return f"has no clip to show ({fault or 'its video file is not known'})"
    if on_a_desk:
        return "is on somebody's desk just now"
    return "is an example of the guideline, which shows its grade" if example else ""


def query_of(db: Database, pair_id: PairId) -> QueryId | None:
    """The query of a pair."""
    row = db.conn.execute("SELECT query_id FROM pair WHERE pair_id = ?", [pair_id]).fetchone()
    return None if row is None or row[0] is None else QueryId(row[0])


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


def attempts(db: Database, me: AnnotatorId) -> list[Attempt]:
    """All attempts of a person, the first one first."""
    return _attempts(db, "t.annotator_id = ? ORDER BY t.number", me)


def newest_attempt(db: Database, me: AnnotatorId) -> Attempt | None:
    """The attempt that a person began last."""
    found = _attempts(db, "t.annotator_id = ? ORDER BY t.number DESC LIMIT 1", me)
    return found[0] if found else None


def attempt_by_key(db: Database, key: str) -> Attempt | None:
    """The attempt whose items are named after this key."""
    found = _attempts(db, "t.attempt_key = ?", key)
    return found[0] if found else None


def begin(db: Database, exam_id: int, me: AnnotatorId, number: int, key: str, *, at: float) -> None:
    """A new attempt."""
    db.conn.execute(
        "INSERT INTO exam_attempt (exam_id, annotator_id, number, attempt_key, started_at) VALUES (?, ?, ?, ?, ?)",
        [exam_id, me, number, key, at],
    )


def hand_in(db: Database, attempt_id: int, *, at: float) -> None:
    """The answers are final."""
    db.conn.execute("UPDATE exam_attempt SET handed_in_at = ? WHERE attempt_id = ?", [at, attempt_id])


def note_read(db: Database, attempt_id: int, *, at: float) -> None:
    """The person has seen the result."""
    db.conn.execute("UPDATE exam_attempt SET read_at = ? WHERE attempt_id = ?", [at, attempt_id])


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


def answer_owner(db: Database, event_key: str) -> tuple[int, int] | None:
    """(attempt, item) of a key press that was stored before."""
    row = db.conn.execute("SELECT attempt_id, item_id FROM exam_answer WHERE event_key = ?", [event_key]).fetchone()
    return (row[0], row[1]) if row else None


def add_answer(
    db: Database, attempt_id: int, item_id: int, grade: int, *, again: bool, at: float, active_ms: int, event_key: str
) -> None:
    """Append an answer as the newest revision of its item."""
    db.conn.execute(
        "INSERT INTO exam_answer (attempt_id, item_id, revision, again, grade, answered_at, active_ms, event_key) "
        "SELECT :attempt, :item, coalesce(max(revision), 0) + 1, :again, :grade, :at, :active, :key "
        "FROM exam_answer WHERE attempt_id = :attempt AND item_id = :item",
        {
            **{"attempt": attempt_id, "item": item_id, "again": int(again), "grade": grade, "at": at},
            **{"active": active_ms, "key": event_key},
        },
    )


def ruling(db: Database, me: AnnotatorId) -> Ruling | None:
    """What a lead decided last about a person."""
    row = db.conn.execute(
        "SELECT kind, reason, after_attempt FROM exam_ruling WHERE annotator_id = ? ORDER BY ruling_id DESC LIMIT 1",
        [me],
    ).fetchone()
    return Ruling(*row) if row else None


def rule(
    db: Database,
    me: AnnotatorId,
    kind: str,
    reason: str,
    *,
    by: AnnotatorId | None,
    after_attempt: int,
    at: float,
) -> None:
    """Append a decision about a person."""
    db.conn.execute(
        "INSERT INTO exam_ruling (annotator_id, lead_id, kind, reason, after_attempt, ruled_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [me, by, kind, reason, after_attempt, at],
    )


def takers(db: Database) -> list[Person]:
    """Annotators by name who could take an exam: a program, or a worker of an earlier campaign, cannot sign in."""
    rows = db.conn.execute(
        "SELECT a.annotator_id, a.name, a.suspended FROM annotator a WHERE a.role = 'annotator' AND NOT a.simulated "
        "AND (a.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM invitation i WHERE i.annotator_id = a.annotator_id) "
        "OR EXISTS (SELECT 1 FROM identity d WHERE d.annotator_id = a.annotator_id) "
        "OR EXISTS (SELECT 1 FROM exam_attempt t WHERE t.annotator_id = a.annotator_id)) ORDER BY a.name"
    )
    return [Person(AnnotatorId(row[0]), row[1], Role.ANNOTATOR, bool(row[2])) for row in rows]


def graded_before(db: Database) -> list[AnnotatorId]:
    """Annotators with a grade of their own in this project, made here."""
    rows = db.conn.execute(
        "SELECT a.annotator_id FROM annotator a WHERE a.role = 'annotator' AND EXISTS "
        "(SELECT 1 FROM judgement j WHERE j.annotator_id = a.annotator_id AND NOT j.imported AND NOT j.simulated)"
    )
    return [AnnotatorId(row[0]) for row in rows]


def _attempts(db: Database, where: str, value: object) -> list[Attempt]:
    rows = db.conn.execute(
        "SELECT t.attempt_id, t.exam_id, t.annotator_id, t.number, t.attempt_key, t.started_at, t.handed_in_at, "
        "t.read_at, e.most_missed, c.tolerance, e.ended_at IS NULL "
        f"FROM exam_attempt t JOIN exam e USING (exam_id) CROSS JOIN campaign c WHERE {where}",
        [value],
    )
    return [Attempt(r[0], r[1], AnnotatorId(r[2]), r[3], r[4], r[5], r[6], r[7], r[8], r[9], bool(r[10])) for r in rows]
