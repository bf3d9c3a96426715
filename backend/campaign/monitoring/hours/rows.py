"""SQL that sums the working time of annotators from all tables that store working times. Reads only.

SQLite adds up the milliseconds of each person and day, so even a large campaign gives only a few hundred rows.
"""

from backend.campaign.monitoring.hours.rules import WorkDay
from backend.core.ids import AnnotatorId
from backend.store.engine import Database

_WORK = """
  SELECT annotator_id, graded_at AS at, 'judging' AS kind, revision = 1 AS is_first, active_ms
  FROM judgement WHERE simulated = 0 AND imported = 0
    AND event_key NOT LIKE 'exam:%'  -- an answer that came to count as a judgement is paid as an answer
  UNION ALL
  SELECT t.annotator_id, n.answered_at, 'exam', n.revision = 1, n.active_ms
  FROM exam_answer n JOIN exam_attempt t USING (attempt_id)
  UNION ALL
  SELECT annotator_id, graded_at, 'gold', revision = 1, active_ms FROM gold_answer
  UNION ALL
  SELECT x.person_id, x.at, 'describing', x.act_id = (
    SELECT min(f.act_id) FROM description_act f WHERE f.description_id = x.description_id), x.active_ms
  FROM description_act x WHERE x.kind = 'written'
"""


def days(db: Database) -> list[WorkDay]:
    """Return the work of every annotator on each day in the server's time zone, sorted by day and name."""
    rows = db.conn.execute(
        f"""
        SELECT a.annotator_id, a.name, date(w.at, 'unixepoch', 'localtime') AS day,
          sum(w.is_first AND w.kind = 'judging'), sum(CASE w.kind WHEN 'judging' THEN w.active_ms ELSE 0 END),
          sum(w.is_first AND w.kind = 'exam'), sum(CASE w.kind WHEN 'exam' THEN w.active_ms ELSE 0 END),
          sum(w.is_first AND w.kind = 'gold'), sum(CASE w.kind WHEN 'gold' THEN w.active_ms ELSE 0 END),
          sum(w.active_ms = 0 AND w.kind <> 'describing'), NULL,
          sum(w.is_first AND w.kind = 'describing'), sum(CASE w.kind WHEN 'describing' THEN w.active_ms ELSE 0 END)
        FROM ({_WORK}) w JOIN annotator a USING (annotator_id)
        WHERE a.role = 'annotator' AND a.simulated = 0
        GROUP BY a.annotator_id, day ORDER BY day, a.name
        """
    )
    return [WorkDay(AnnotatorId(row[0]), *row[1:]) for row in rows]


def mean_moment_s(db: Database) -> float:
    """Return the mean duration of all moments in seconds; 0 if there are none."""
    found: float = db.conn.execute("SELECT coalesce(avg(end_s - start_s), 0) FROM moment").fetchone()[0]
    return found


def names(db: Database) -> list[str]:
    """Return the names of all annotators."""
    return [row[0] for row in db.conn.execute("SELECT name FROM annotator WHERE role = 'annotator'")]


def left_out(db: Database) -> tuple[int, int]:
    """Return the numbers of (simulated, imported) judgements, which are left out of working time."""
    row = db.conn.execute(
        "SELECT coalesce(sum(simulated), 0), coalesce(sum(imported AND NOT simulated), 0) FROM judgement "
        "WHERE revision = 1"
    ).fetchone()
    return row[0], row[1]
