"""Working time credited to one person, over all tables that keep any. Reads only, by indexes.

Simulated and imported judgements keep the times they came with; an exam's answer that came to count as a judgement has
its time in the exam.
"""

from backend.campaign.judging.model import FROM_EXAM
from backend.ground.ids import AnnotatorId
from backend.store.engine import Database

# CROSS JOIN: from the few attempts of the person to their answers.
_EVENTS = f"""
  SELECT graded_at AS at, active_ms FROM judgement WHERE annotator_id = :me AND graded_at > :since
    AND simulated = 0 AND imported = 0 AND event_key NOT LIKE '{FROM_EXAM}%'
  UNION ALL SELECT graded_at, active_ms FROM gold_answer WHERE annotator_id = :me AND graded_at > :since
  UNION ALL SELECT n.answered_at, n.active_ms FROM exam_attempt t CROSS JOIN exam_answer n USING (attempt_id)
    WHERE t.annotator_id = :me AND n.answered_at > :since
  UNION ALL SELECT at, active_ms FROM description_act WHERE person_id = :me AND at > :since AND active_ms IS NOT NULL
"""


def since(db: Database, me: AnnotatorId, instant: float) -> int:
    """Milliseconds credited for everything stored after an instant."""
    row = db.conn.execute(
        f"SELECT coalesce(sum(active_ms), 0) FROM ({_EVENTS}) AS e", {"me": me, "since": instant}
    ).fetchone()
    return int(row[0])


def last_event(db: Database, me: AnnotatorId) -> float | None:
    """When the person's newest event was stored, in seconds since 1970; None without any."""
    row = db.conn.execute(
        "SELECT max(at) FROM (SELECT max(graded_at) AS at FROM judgement WHERE annotator_id = :me "
        "UNION ALL SELECT max(graded_at) FROM gold_answer WHERE annotator_id = :me "
        "UNION ALL SELECT max(n.answered_at) FROM exam_attempt t CROSS JOIN exam_answer n USING (attempt_id) "
        "WHERE t.annotator_id = :me "
        "UNION ALL SELECT max(at) FROM description_act WHERE person_id = :me) AS e",
        {"me": me},
    ).fetchone()
    return None if row[0] is None else float(row[0])
