"""What people answered in a trial, and wrote with it: for leads to talk about, and for nothing else."""

from backend.campaign.qualification.exam.model import CalibrationAnswer, CalibrationPair, CalibrationPerson
from backend.core.ids import AnnotatorId, PairKey, QueryId
from backend.store.engine import Database


def pairs(db: Database, exam_id: int) -> list[CalibrationPair]:
    """The pairs of a trial by query and rank, each with the answers that count, in the order of names."""
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


def people(db: Database, exam_id: int) -> dict[AnnotatorId, CalibrationPerson]:
    """Who has begun a trial, by person: how much of it they answered, and whether they finished."""
    rows = db.conn.execute(
        "SELECT t.annotator_id, a.name, count(DISTINCT n.item_id), t.handed_in_at IS NOT NULL FROM exam_attempt t "
        "JOIN annotator a USING (annotator_id) LEFT JOIN exam_answer n USING (attempt_id) WHERE t.exam_id = ? "
        "GROUP BY t.attempt_id, a.annotator_id ORDER BY a.name",
        [exam_id],
    )
    return {AnnotatorId(r[0]): CalibrationPerson(AnnotatorId(r[0]), r[1], r[2], bool(r[3])) for r in rows}
