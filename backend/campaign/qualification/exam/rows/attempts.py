"""SQL for attempts at an exam or a calibration round, for their answers, and for retakes and exemptions."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.qualification.exam.model import (
    CalibrationAnswer,
    CalibrationPair,
    CalibrationPerson,
    ExamPurpose,
)
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.store.engine import Database, insert_returning_id


@dataclass(frozen=True, slots=True)
class Attempt:
    """One person's attempt at one exam or calibration round.

    `number` counts the person's attempts from 1. The names of its items in a browser begin with `key`. `order_key`
    shuffles the items; no browser is sent it. `read_at` is when the person saw their result. At most `most_missed`
    percent of the answers may differ from the right grade by more than `tolerance`. `rule_version` names this pass
    rule, with which the exam was set. Times are in seconds since 1970.
    """

    attempt_id: int
    exam_id: int
    annotator_id: AnnotatorId
    number: int
    key: str
    order_key: str
    started_at: float
    handed_in_at: float | None
    read_at: float | None
    most_missed: float
    rule_version: str
    tolerance: int
    held: bool
    """True if its exam is still open."""
    keyed: bool
    """True if its exam has its answer key."""
    purpose: ExamPurpose = ExamPurpose.EXAM


@dataclass(frozen=True, slots=True)
class BlindAnswer:
    """An answer that a person gave before they knew the right grade.

    `answered_at` is in seconds since 1970, and `active_ms` is the work time in milliseconds. `event_key` identifies the
    key press.
    """

    item_id: int
    pair_id: PairId
    grade: int
    answered_at: float
    active_ms: int
    event_key: str


@dataclass(frozen=True, slots=True)
class Waiver:
    """A permission from a lead: another attempt (`retake`), or to work without having passed (`exempt`).

    `after_attempt` is the number of the person's newest attempt at that time; 0 if there was none.
    """

    kind: str
    reason: str
    after_attempt: int


def all_of(db: Database, me: AnnotatorId) -> list[Attempt]:
    """Return all attempts of a person at exams, the first one first."""
    return _attempts(db, "t.annotator_id = ? AND e.purpose = 'exam' ORDER BY t.number", me)


def any_of(db: Database, exam_id: int) -> bool:
    """Return whether anybody has begun an exam."""
    return db.conn.execute("SELECT 1 FROM exam_attempt WHERE exam_id = ? LIMIT 1", [exam_id]).fetchone() is not None


def newest(db: Database, me: AnnotatorId, purpose: ExamPurpose = ExamPurpose.EXAM) -> Attempt | None:
    """Return the newest attempt that a person began at an exam, or at a calibration round; None if there is none."""
    matches = _attempts(db, "t.annotator_id = ? AND e.purpose = ? ORDER BY t.number DESC LIMIT 1", me, purpose)
    return matches[0] if matches else None


def by_key(db: Database, key: str) -> Attempt | None:
    """Return the attempt with this key, the prefix of its items' names in the browser; None if there is none."""
    matches = _attempts(db, "t.attempt_key = ?", key)
    return matches[0] if matches else None


def first_finished(db: Database, exam_id: int) -> list[Attempt]:
    """Return each annotator's first attempt at an exam if it is handed in, ordered by annotator id."""
    return _attempts(
        db,
        "t.exam_id = ? AND t.handed_in_at IS NOT NULL AND EXISTS "
        "(SELECT 1 FROM annotator a WHERE a.annotator_id = t.annotator_id AND a.role = 'annotator') "
        "AND NOT EXISTS (SELECT 1 FROM exam_attempt o WHERE o.exam_id = t.exam_id "
        "AND o.annotator_id = t.annotator_id AND o.number < t.number) ORDER BY t.annotator_id",
        exam_id,
    )


def leads_attempts(db: Database, exam_id: int) -> list[Attempt]:
    """Return the attempts in which leads handed in the answer key of an exam, the first one first."""
    return _attempts(
        db,
        "t.exam_id = ? AND t.handed_in_at IS NOT NULL AND EXISTS "
        "(SELECT 1 FROM annotator a WHERE a.annotator_id = t.annotator_id AND a.role = 'lead') "
        "ORDER BY t.handed_in_at, t.attempt_id",
        exam_id,
    )


def begin(db: Database, exam_id: int, me: AnnotatorId, number: int, items: Iterable[int], *, at: float) -> None:
    """Add an attempt that asks these exam items; the exam's original items if `items` is empty.

    Two random keys are drawn for the attempt. The names of its items in the browser begin with the first key. The
    second key sets the order of the items.
    """
    attempt_id = insert_returning_id(
        db,
        "INSERT INTO exam_attempt (exam_id, annotator_id, number, attempt_key, order_key, started_at) "
        "VALUES (?, ?, ?, ?, ?, ?) RETURNING attempt_id",
        [exam_id, me, number, secrets.token_hex(8), secrets.token_hex(16), at],
    )
    db.conn.executemany(
        "INSERT INTO exam_attempt_item (attempt_id, item_id) VALUES (?, ?)", ((attempt_id, item) for item in items)
    )


def seen_pairs(db: Database, me: AnnotatorId) -> set[PairId]:
    """Return every pair that a person has graded: in an exam, a calibration round, work, gold questions or practice."""
    rows = db.conn.execute(
        "SELECT pair_id FROM known_pair WHERE annotator_id = :me "
        "UNION SELECT pair_id FROM judgement WHERE annotator_id = :me "
        "UNION SELECT pair_id FROM gold_answer WHERE annotator_id = :me "
        "UNION SELECT u.pair_id FROM practice_answer w JOIN practice r USING (practice_id) "
        "JOIN pair u USING (moment_id) WHERE w.annotator_id = :me",
        {"me": me},
    )
    return {PairId(row[0]) for row in rows}


def hand_in(db: Database, attempt_id: int, *, at: float) -> None:
    """Mark an attempt as handed in: its answers are final."""
    db.conn.execute("UPDATE exam_attempt SET handed_in_at = ? WHERE attempt_id = ?", [at, attempt_id])


def note_read(db: Database, attempt_id: int, *, at: float) -> None:
    """Record that the person has seen the result of an attempt."""
    db.conn.execute("UPDATE exam_attempt SET read_at = ? WHERE attempt_id = ?", [at, attempt_id])


def answer_owner(db: Database, event_key: str) -> tuple[int, int] | None:
    """Return the (attempt id, item id) of the answer that was stored for this key press; None if there is none."""
    row = db.conn.execute("SELECT attempt_id, item_id FROM exam_answer WHERE event_key = ?", [event_key]).fetchone()
    return (row[0], row[1]) if row else None


def answer(
    db: Database, attempt_id: int, item_id: int, grade: int, *, again: bool, at: float, active_ms: int, event_key: str
) -> None:
    """Store a new answer to an item of an attempt; earlier answers stay in the database.

    `again` says whether the person gave it after reading the explanation.
    """
    db.conn.execute(
        "INSERT INTO exam_answer (attempt_id, item_id, revision, again, grade, answered_at, active_ms, event_key) "
        "SELECT :attempt, :item, coalesce(max(revision), 0) + 1, :again, :grade, :at, :active, :key "
        "FROM exam_answer WHERE attempt_id = :attempt AND item_id = :item",
        {
            **{"attempt": attempt_id, "item": item_id, "again": int(again), "grade": grade, "at": at},
            **{"active": active_ms, "key": event_key},
        },
    )


def note(db: Database, attempt_id: int, item_id: int, text: str) -> None:
    """Store a note with the newest answer to an item; an empty text removes an earlier note."""
    db.conn.execute(
        "INSERT INTO answer_note (attempt_id, item_id, revision, text) "
        "SELECT attempt_id, item_id, max(revision), :text FROM exam_answer "
        "WHERE attempt_id = :attempt AND item_id = :item",
        {"attempt": attempt_id, "item": item_id, "text": text},
    )


def explained_answers(db: Database, attempt_id: int) -> dict[int, int]:
    """Return, by item id, the first grade that a person gave to a missed item after reading its explanation."""
    rows = db.conn.execute(
        "SELECT item_id, grade FROM exam_answer WHERE attempt_id = ? AND again ORDER BY item_id, revision DESC",
        [attempt_id],
    )
    return dict(rows.fetchall())  # newest rows come first, so the oldest grade stays


def answers(db: Database, attempt_id: int) -> list[BlindAnswer]:
    """Return the current answers of an attempt, ordered by item id, without those given after an explanation."""
    rows = db.conn.execute(
        "SELECT n.item_id, i.pair_id, n.grade, n.answered_at, n.active_ms, n.event_key FROM exam_answer n "
        "JOIN exam_item i USING (item_id) WHERE n.attempt_id = :attempt AND n.again = 0 AND n.revision = "
        "(SELECT max(o.revision) FROM exam_answer o WHERE o.attempt_id = n.attempt_id AND o.item_id = n.item_id "
        "AND o.again = 0) ORDER BY n.item_id",
        {"attempt": attempt_id},
    )
    return [BlindAnswer(r[0], PairId(r[1]), *r[2:]) for r in rows]


def newest_waiver(db: Database, me: AnnotatorId) -> Waiver | None:
    """Return the newest retake or exemption that a lead granted an annotator; None if there is none."""
    row = db.conn.execute(
        "SELECT kind, reason, after_attempt FROM exam_ruling WHERE annotator_id = ? ORDER BY ruling_id DESC LIMIT 1",
        [me],
    ).fetchone()
    return Waiver(*row) if row else None


def add_waiver(
    db: Database,
    me: AnnotatorId,
    kind: str,
    reason: str,
    *,
    by: AnnotatorId | None,
    after_attempt: int,
    at: float,
) -> None:
    """Store a retake or an exemption that a lead grants a person."""
    db.conn.execute(
        "INSERT INTO exam_ruling (annotator_id, lead_id, kind, reason, after_attempt, ruled_at) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [me, by, kind, reason, after_attempt, at],
    )


def graded_before(db: Database) -> list[AnnotatorId]:
    """Return the annotators who have graded in this project; imported and simulated grades do not count."""
    rows = db.conn.execute(
        "SELECT a.annotator_id FROM annotator a WHERE a.role = 'annotator' AND EXISTS "
        "(SELECT 1 FROM judgement j WHERE j.annotator_id = a.annotator_id AND NOT j.imported AND NOT j.simulated)"
    )
    return [AnnotatorId(row[0]) for row in rows]


def calibration_pairs(db: Database, exam_id: int) -> list[CalibrationPair]:
    """Return the pairs of a calibration round, ordered by query and rank, with everybody's current answers.

    The answers to a pair are sorted by the annotators' names.
    """
    answers: dict[int, list[CalibrationAnswer]] = {}
    for row in db.conn.execute(
        "SELECT n.item_id, t.annotator_id, a.name, n.grade, (SELECT e.text FROM answer_note e "
        "  WHERE e.attempt_id = n.attempt_id AND e.item_id = n.item_id ORDER BY e.revision DESC LIMIT 1) "
        "FROM exam_attempt t JOIN exam_answer n USING (attempt_id) JOIN annotator a USING (annotator_id) "
        "WHERE t.exam_id = ? AND n.revision = (SELECT max(o.revision) FROM exam_answer o "
        "  WHERE o.attempt_id = n.attempt_id AND o.item_id = n.item_id) ORDER BY a.name",
        [exam_id],
    ):
        answers.setdefault(row[0], []).append(CalibrationAnswer(AnnotatorId(row[1]), row[2], row[3], row[4] or ""))
    rows = db.conn.execute(
        "SELECT i.item_id, p.pair_key, p.query_id, q.text, v.name, m.start_s, m.end_s, p.rank FROM exam_item i "
        "JOIN pair p USING (pair_id) JOIN query q USING (query_id) JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) WHERE i.exam_id = ? ORDER BY q.position, p.rank",
        [exam_id],
    )
    return [
        CalibrationPair(PairKey(r[1]), QueryId(r[2]), r[3], r[4], r[5], r[6], r[7], tuple(answers.get(r[0], ())))
        for r in rows
    ]


def calibration_people(db: Database, exam_id: int) -> dict[AnnotatorId, CalibrationPerson]:
    """Return everybody who has begun a calibration round, by id, with how many items they answered."""
    rows = db.conn.execute(
        "SELECT t.annotator_id, a.name, count(DISTINCT n.item_id), t.handed_in_at IS NOT NULL FROM exam_attempt t "
        "JOIN annotator a USING (annotator_id) LEFT JOIN exam_answer n USING (attempt_id) WHERE t.exam_id = ? "
        "GROUP BY t.attempt_id, a.annotator_id ORDER BY a.name",
        [exam_id],
    )
    return {AnnotatorId(r[0]): CalibrationPerson(AnnotatorId(r[0]), r[1], r[2], bool(r[3])) for r in rows}


def _attempts(db: Database, where: str, *values: object) -> list[Attempt]:
    rows = db.conn.execute(
        "SELECT t.attempt_id, t.exam_id, t.annotator_id, t.number, t.attempt_key, "
        "iif(t.order_key = '', t.attempt_key, t.order_key), t.started_at, t.handed_in_at, t.read_at, "
        "e.most_missed, e.rule_version, c.tolerance, e.ended_at IS NULL, e.closed_at IS NOT NULL, e.purpose "
        f"FROM exam_attempt t JOIN exam e USING (exam_id) CROSS JOIN campaign c WHERE {where}",
        values,
    )
    return [
        Attempt(
            *(r[0], r[1], AnnotatorId(r[2]), r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11]),
            *(bool(r[12]), bool(r[13]), ExamPurpose(r[14])),
        )
        for r in rows
    ]
