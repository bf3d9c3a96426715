"""SQL for exams and calibration rounds with their items."""

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.qualification.answers.rows import CLIP, HAS_CLIP, ON_A_DESK
from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.exam.model import (
    EXAM_CLOSED,
    EXAM_SET,
    PASS_RULE,
    Exam,
    ExamItem,
    ExamKey,
    ExamPurpose,
)
from backend.campaign.qualification.exam.rules.drawing import Open
from backend.core.ids import AnnotatorId, BatchId, PairId, PairKey, QueryId
from backend.store.engine import Database, insert_returning_id

_LATER = (ExamKey.MEDIAN, ExamKey.OWN)
_NOT_ASKED = "(f.moment_id IS NOT NULL OR (e.closed_at IS NOT NULL AND i.right_grade IS NULL))"
_ALL = "1 = 1"
_OWN = "EXISTS (SELECT 1 FROM exam_attempt_item o WHERE o.attempt_id = :attempt{})"
_OF_ATTEMPT = f"CASE WHEN {_OWN.format('')} THEN {_OWN.format(' AND o.item_id = i.item_id')} ELSE i.alternate = 0 END"

_COLUMNS = tuple(field.name for field in fields(Exam))


def open_exam(db: Database, purpose: ExamPurpose = ExamPurpose.EXAM) -> Exam | None:
    """Return the exam or the calibration round that is open; None if there is none."""
    return _exam(db, "e.ended_at IS NULL AND e.purpose = ?", purpose)


def before_work(db: Database) -> list[Exam]:
    """Return the rounds to complete before any work: the open calibration round, then the open exam."""
    return sorted(_exams(db, "e.ended_at IS NULL"), key=lambda exam: exam.purpose is ExamPurpose.EXAM)


def by_id(db: Database, exam_id: int) -> Exam | None:
    """Return an exam or a calibration round, even if it is over; None if there is none."""
    return _exam(db, "e.exam_id = ?", exam_id)


def newest(db: Database, purpose: ExamPurpose) -> Exam | None:
    """Return the exam, or the calibration round, that was set last, even if it is over; None if there is none."""
    return _exam(db, "e.exam_id = (SELECT max(exam_id) FROM exam WHERE purpose = ?)", purpose)


def newest_of_open_pairs(db: Database) -> Exam | None:
    """Return the newest exam that asked pairs nobody had graded, even if it is over; None if there is none."""
    return _exam(db, "e.exam_id = (SELECT max(exam_id) FROM exam WHERE key_from IN (?, ?))", *_LATER)


def end(db: Database, *, at: float, purpose: ExamPurpose = ExamPurpose.EXAM) -> int | None:
    """End the exam or the calibration round that is open, and return its id; None if there is none."""
    row = db.conn.execute(
        "UPDATE exam SET ended_at = ? WHERE ended_at IS NULL AND purpose = ? RETURNING exam_id", [at, purpose]
    ).fetchone()
    return row[0] if row else None


def close(db: Database, exam_id: int, key: Iterable[tuple[int, int]], *, at: float) -> None:
    """Store the answer key of an exam, given as the (item, right grade) of each item that has one."""
    db.conn.executemany(
        "UPDATE exam_item SET right_grade = ? WHERE item_id = ?", ((right, item_id) for item_id, right in key)
    )
    db.conn.execute("UPDATE exam SET closed_at = ? WHERE exam_id = ?", [at, exam_id])


def note_used(db: Database, exam_id: int, *, at: float) -> None:
    """Record that answers of the exam have become judgements."""
    db.conn.execute("UPDATE exam SET used_at = ? WHERE exam_id = ?", [at, exam_id])


def batches(db: Database, exam_id: int) -> list[BatchId]:
    """Return the batches (groups of pairs handed out together) that contain pairs of an exam."""
    rows = db.conn.execute(
        "SELECT DISTINCT p.batch_id FROM exam_item i JOIN pair p USING (pair_id) "
        "WHERE i.exam_id = ? AND p.batch_id IS NOT NULL",
        [exam_id],
    )
    return [BatchId(row[0]) for row in rows]


def add(
    db: Database,
    items: Iterable[tuple[PairId, int | None, str]],
    *,
    at: float,
    by: AnnotatorId | None,
    source: str,
    seed: int | None,
    most_missed: float,
    key_from: ExamKey = ExamKey.SETTLED,
) -> int:
    """Add an exam or a calibration round, and return its id. Each item is (pair, right grade or None, explanation).

    `source` says where the pairs come from. `most_missed` is the percentage of answers that may miss the right grade.
    """
    exam_id = insert_returning_id(
        db,
        "INSERT INTO exam (set_at, set_by, source, seed, most_missed, rule_version, purpose, key_from, closed_at) "
        "VALUES (:at, :by, :source, :seed, :most, :rule, :purpose, :key, iif(:key = 'settled', :at, NULL)) "
        "RETURNING exam_id",
        {
            **{"at": at, "by": by, "source": source, "seed": seed, "most": most_missed, "key": key_from},
            "rule": PASS_RULE,
            "purpose": key_from.purpose,
        },
    )
    db.conn.executemany(
        "INSERT INTO exam_item (exam_id, pair_id, right_grade, explanation) VALUES (?, ?, ?, ?)",
        ((exam_id, *item) for item in items),
    )
    return exam_id


def open_pairs(db: Database, *, now: float, replaced: ExamPurpose) -> list[Open]:
    """Return the pairs without a grade that a new exam or calibration round may ask.

    Their clips can be shown, and nobody is grading them. Pairs of probes (graded only to learn how deep judging must
    go) are left out. So are pairs that somebody answered in an earlier exam or round.

    Pairs of an exam or round that is open now are left out too, unless it has the purpose `replaced`: the new one
    replaces it.
    """
    rows = db.conn.execute(
        f"""
        SELECT p.query_id, p.pair_id, p.rank FROM pair p JOIN batch b USING (batch_id) {CLIP}
        WHERE b.number IS NOT NULL AND {HAS_CLIP} AND NOT {ON_A_DESK}
          AND NOT EXISTS (SELECT 1 FROM judgement j WHERE j.pair_id = p.pair_id)
          AND NOT EXISTS (SELECT 1 FROM consensus c WHERE c.pair_id = p.pair_id)
          AND NOT EXISTS (SELECT 1 FROM exam_item i JOIN exam e USING (exam_id)
            WHERE i.pair_id = p.pair_id AND e.ended_at IS NULL AND e.purpose <> :replaced)
          AND NOT EXISTS (SELECT 1 FROM known_pair k WHERE k.pair_id = p.pair_id)
        """,
        {"now": now, "replaced": replaced},
    )
    return [Open(QueryId(row[0]), PairId(row[1]), row[2]) for row in rows]


def explain(db: Database, item_id: int, explanation: str) -> PairId | None:
    """Set the explanation of an item, and return its pair; None if there is no such item."""
    row = db.conn.execute(
        "UPDATE exam_item SET explanation = ? WHERE item_id = ? RETURNING pair_id", [explanation, item_id]
    ).fetchone()
    return PairId(row[0]) if row else None


def weakness_on_record(db: Database, exam_id: int) -> tuple[list[str], str] | None:
    """Return the ways in which guessing can pass an exam, and the lead's reason to hold it anyway.

    Returns None if guessing cannot pass.
    """
    row = db.conn.execute(
        "SELECT payload ->> 'weak', payload ->> 'although' FROM event WHERE subject = ? "
        "AND kind IN (?, ?) AND payload ->> 'although' IS NOT NULL ORDER BY event_id DESC",
        [f"exam:{exam_id}", EXAM_SET.kind, EXAM_CLOSED.kind],
    ).fetchone()
    return (json.loads(row[0]), row[1]) if row else None


def add_alternate(db: Database, exam_id: int, pair: KnownPair) -> int:
    """Add to an exam an item that is asked only in retakes, and return its id."""
    return insert_returning_id(
        db,
        "INSERT INTO exam_item (exam_id, pair_id, right_grade, alternate) VALUES (?, ?, ?, 1) RETURNING item_id",
        [exam_id, pair.pair_id, pair.right],
    )


def items(db: Database, exam_id: int, attempt_id: int | None = None) -> list[ExamItem]:
    """Return the items of an exam, ordered by id.

    With an attempt, return only the items of this attempt, with its current answers.
    """
    newest = (
        "(SELECT grade FROM exam_answer n WHERE n.attempt_id = :attempt AND n.item_id = i.item_id AND n.again = {} "
        "ORDER BY n.revision DESC LIMIT 1)"
    )
    rows = db.conn.execute(
        "SELECT i.item_id, p.query_id, q.text, p.pair_id, p.pair_key, m.end_s - m.start_s, "
        f"{WHOLE}, i.right_grade, i.explanation, {_NOT_ASKED}, {newest.format(0)}, {newest.format(1)}, "
        "(SELECT t.text FROM answer_note t WHERE t.attempt_id = :attempt AND t.item_id = i.item_id "
        "ORDER BY t.revision DESC LIMIT 1), i.alternate "
        "FROM exam_item i JOIN exam e USING (exam_id) JOIN pair p USING (pair_id) JOIN query q USING (query_id) "
        "JOIN moment m USING (moment_id) "
        "JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id) "
        f"WHERE i.exam_id = :exam AND {_ALL if attempt_id is None else _OF_ATTEMPT} ORDER BY i.item_id",
        {"exam": exam_id, "attempt": attempt_id or 0},
    )
    return [
        ExamItem(
            *(r[0], QueryId(r[1]), r[2], PairId(r[3]), PairKey(r[4]), r[5]),
            *(bool(r[6]), r[7], r[8], bool(r[9]), r[10], r[11]),
            note=r[12] or "",
            alternate=bool(r[13]),
        )
        for r in rows
    ]


def _exam(db: Database, where: str, *values: object) -> Exam | None:
    return next(iter(_exams(db, where, *values)), None)


def _exams(db: Database, where: str, *values: object) -> list[Exam]:
    rows = db.conn.execute(
        "SELECT e.exam_id, e.set_at, a.name, e.source, e.seed, e.most_missed, "
        "(SELECT tolerance FROM campaign), count(*), count(DISTINCT p.query_id), "
        f"sum(NOT {_NOT_ASKED}), e.purpose, e.key_from, e.closed_at, e.used_at, e.ended_at "
        "FROM exam e LEFT JOIN annotator a ON a.annotator_id = e.set_by "
        "JOIN exam_item i USING (exam_id) JOIN pair p USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
        f"WHERE i.alternate = 0 AND {where} GROUP BY e.exam_id, a.annotator_id",
        values,
    )
    return [_from_row(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _from_row(row: dict[str, Any]) -> Exam:
    return Exam(**{**row, "purpose": ExamPurpose(row["purpose"]), "key_from": ExamKey(row["key_from"])})
