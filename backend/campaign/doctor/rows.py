"""Run the SQL that finds inconsistent rows in a project's database; it only reads.

`backend.campaign.doctor.examination` runs these queries, and explains the faults that they find.
"""

from collections.abc import Iterator, Mapping

from backend.campaign.judging.model import DE_ESCALATED, ESCALATED
from backend.campaign.nouns import FROM_EXAM, SECOND_ROUND_SEATS
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.permissions import DAY_S
from backend.campaign.setup.tokens.model import MOST_DAYS
from backend.core.ids import PairId
from backend.store.engine import Database

JUDGED_WITHOUT_GRADE = """
  SELECT 'pair ' || s.pair_id || ', seat ' || s.seat_no FROM seat s
  WHERE s.annotator_id IS NOT NULL AND s.lease_until IS NULL
    AND NOT EXISTS (SELECT 1 FROM judgement j WHERE j.pair_id = s.pair_id AND j.seat_no = s.seat_no)
"""
GRADE_WITHOUT_JUDGED = """
  SELECT DISTINCT 'pair ' || j.pair_id || ', seat ' || j.seat_no
  FROM judgement j LEFT JOIN seat s USING (pair_id, seat_no)
  WHERE s.annotator_id IS NOT j.annotator_id OR s.lease_until IS NOT NULL
"""
TWICE_AT_A_PAIR = """
  SELECT 'pair ' || s.pair_id || ', annotator ' || s.annotator_id FROM seat s
  WHERE s.annotator_id IS NOT NULL GROUP BY s.pair_id, s.annotator_id HAVING sum(s.repeat = 0) <> 1
  UNION
  SELECT 'pair ' || s.pair_id || ', annotator ' || s.annotator_id FROM seat s JOIN judgement j USING (pair_id, seat_no)
  WHERE s.repeat = 1 AND j.imported = 0
"""
REVISIONS = """
  SELECT 'pair ' || pair_id || ', seat ' || seat_no FROM judgement
  GROUP BY pair_id, seat_no HAVING min(revision) <> 1 OR max(revision) <> count(*)
"""
SPLITS = """
  SELECT 'query ' || t.query_id FROM query t
  WHERE t.split = 'train' AND EXISTS (SELECT 1 FROM query q WHERE q.text = t.text AND q.split <> 'train')
"""
PROBES = """
  SELECT DISTINCT 'query ' || b.query_id FROM batch b
  JOIN pair p USING (batch_id) JOIN query q ON q.query_id = b.query_id
  WHERE b.number IS NULL AND (q.split = 'train' OR p.query_id <> b.query_id
    OR NOT EXISTS (SELECT 1 FROM batch n WHERE n.query_id = b.query_id AND n.number = 1) OR EXISTS (
    SELECT 1 FROM candidate c JOIN candidate h ON h.query_id = c.query_id AND h.rank > c.rank
      JOIN pair o ON o.query_id = h.query_id AND o.moment_id = h.moment_id JOIN batch n ON n.batch_id = o.batch_id
    WHERE c.query_id = p.query_id AND c.moment_id = p.moment_id AND n.number IS NOT NULL AND n.part = 1))
"""
DECLINED = """
  SELECT 'query ' || d.query_id || ', batch ' || d.number FROM declined_batch d JOIN batch b USING (query_id, number)
  WHERE d.ended_at IS NULL AND b.part = 1
"""
SKIPPED_AND_SEATED = """
  SELECT 'pair ' || k.pair_id || ', annotator ' || k.annotator_id FROM skip k
  WHERE k.lifted_at IS NULL
    AND EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = k.pair_id AND s.annotator_id = k.annotator_id)
"""
EXAM_ANSWERS = """
  SELECT 'attempt ' || attempt_id || ', item ' || item_id AS name FROM exam_answer
  GROUP BY attempt_id, item_id HAVING min(revision) <> 1 OR max(revision) <> count(*)
  UNION
  SELECT 'attempt ' || n.attempt_id || ', item ' || n.item_id FROM exam_answer n
  JOIN exam_attempt t USING (attempt_id) JOIN exam_item i USING (item_id) JOIN exam e ON e.exam_id = t.exam_id
  WHERE i.exam_id <> t.exam_id OR (n.again = 1 AND (t.handed_in_at IS NULL OR e.closed_at IS NULL))
"""
EXAM_KEYS = """
  SELECT 'exam ' || exam_id || ', pair ' || i.pair_id FROM exam_item i JOIN exam e USING (exam_id)
  WHERE e.closed_at IS NULL AND i.right_grade IS NOT NULL
"""
EXAM_JUDGEMENTS = f"""
  SELECT 'pair ' || j.pair_id || ', seat ' || j.seat_no FROM judgement j
  WHERE substr(j.event_key, 1, {len(FROM_EXAM)}) = '{FROM_EXAM}' AND NOT EXISTS (
    SELECT 1 FROM exam_answer n JOIN exam_attempt t USING (attempt_id) JOIN exam_item i USING (item_id)
    JOIN exam e ON e.exam_id = t.exam_id
    WHERE n.event_key = substr(j.event_key, {len(FROM_EXAM) + 1}) AND n.again = 0 AND n.grade = j.grade
      AND i.pair_id = j.pair_id AND t.annotator_id = j.annotator_id
      AND t.handed_in_at IS NOT NULL AND e.used_at IS NOT NULL)
"""
GOLD_ANSWERS = """
  SELECT 'pair ' || pair_id || ', annotator ' || annotator_id AS name FROM gold_answer
  GROUP BY pair_id, annotator_id HAVING min(revision) <> 1 OR max(revision) <> count(*)
  UNION
  SELECT 'pair ' || g.pair_id || ', annotator ' || g.annotator_id FROM gold_seat g
  WHERE (g.claim_no IS NOT NULL AND g.lease_until IS NULL) <> EXISTS (
    SELECT 1 FROM gold_answer n WHERE n.pair_id = g.pair_id AND n.annotator_id = g.annotator_id)
  UNION
  SELECT 'pair ' || n.pair_id || ', annotator ' || n.annotator_id FROM gold_answer n JOIN judgement j
    ON j.pair_id = n.pair_id AND j.annotator_id = n.annotator_id
"""
RULINGS = """
  SELECT 'pair ' || pair_id || ', revision ' || revision AS name FROM (
    SELECT pair_id, revision, row_number() OVER (PARTITION BY pair_id ORDER BY revision) AS place FROM lead_act)
  WHERE revision <> place
  UNION
  SELECT 'pair ' || t.pair_id || ', revision ' || t.revision FROM ruling t
  WHERE t.kind = 'taken_back' AND NOT EXISTS (SELECT 1 FROM lead_act a
    WHERE a.pair_id = t.pair_id AND a.revision = t.takes_back AND a.kind <> 'taken_back')
"""
DESCRIPTIONS = """
  SELECT 'description ' || d.description_id AS name FROM description d
  WHERE d.status <> (
    SELECT CASE x.kind WHEN 'written' THEN 'waiting' WHEN 'taken_back' THEN 'waiting' ELSE x.kind END
    FROM description_act x WHERE x.description_id = d.description_id ORDER BY x.act_id DESC LIMIT 1)
    OR d.revision <> (
    SELECT count(*) FROM description_act x WHERE x.description_id = d.description_id AND x.kind = 'written')
    OR NOT EXISTS (
    SELECT 1 FROM description_act x WHERE x.person_id = d.annotator_id AND x.start_s = d.start_s
      AND x.end_s = d.end_s AND x.sentence = d.sentence AND x.act_id = (SELECT max(act_id) FROM description_act w
        WHERE w.description_id = d.description_id AND w.kind = 'written'))
  UNION
  SELECT 'description ' || d.description_id FROM description d JOIN caption c USING (caption_id)
    JOIN moment m ON m.moment_id = d.moment_id
  WHERE c.moment_id <> d.moment_id OR m.video_id <> d.video_id OR c.kind <> 'published'
"""
LONG_LEASES = """
  SELECT 'pair ' || pair_id || ', seat ' || seat_no FROM seat WHERE lease_until > :latest
  UNION
  SELECT 'pair ' || pair_id || ', gold of annotator ' || annotator_id FROM gold_seat WHERE lease_until > :latest
"""
WRONGLY_CLOSED = """
  SELECT 'pair ' || s.pair_id || ', seat ' || s.seat_no FROM seat s
  WHERE (s.annotator_id IS NULL OR s.lease_until IS NOT NULL) AND s.closed <>
    (s.pair_id IN (SELECT pair_id FROM lead_act WHERE kind = 'decided' AND stands))
"""
ODD_TOKENS = f"""
  SELECT 'token ' || t.token_key || ', user ' || t.annotator_id FROM personal_token t JOIN annotator a
    ON a.annotator_id = t.annotator_id
  WHERE a.suspended = 1 OR t.expires_at > t.created_at + {(MOST_DAYS + 1) * DAY_S}
"""
ESCALATED_WITHOUT_SEATS = f"""
  SELECT 'pair ' || substr(e.subject, 6) FROM event e
  WHERE e.event_id IN (
    SELECT max(event_id) FROM event WHERE kind IN ('{ESCALATED.kind}', '{DE_ESCALATED.kind}') GROUP BY subject)
    AND e.kind = '{ESCALATED.kind}'
    AND (SELECT count(*) FROM seat s WHERE s.pair_id = CAST(substr(e.subject, 6) AS INTEGER))
      < {max(SECOND_ROUND_SEATS)}
"""


def listed(db: Database, sql: str, values: Mapping[str, object] | None = None) -> list[str]:
    """Return the texts that an SQL query of this module gives for the faulty rows, sorted."""
    return [row[0] for row in db.conn.execute(f"SELECT * FROM ({sql}) ORDER BY 1", values or {})]


def consensus_rows(db: Database) -> dict[PairId, tuple[str, int | None, float | None, str]]:
    """Return the stored verdict on each pair: (verdict, relevance, mean of the grades, version of the rule)."""
    return {
        PairId(row[0]): (row[1], row[2], row[3], row[4])
        for row in db.conn.execute("SELECT pair_id, verdict, relevance, mean, rule_version FROM consensus")
    }


def seat_counts(db: Database) -> Iterator[tuple[PairId, bool, int, int, int]]:
    """Yield the numbers of seats of every pair; a seat is the place of one annotator at a pair.

    Each is (pair, whether its moment is known, number of seats, highest seat number, number of seats with a grade).
    """
    rows = db.conn.execute(
        "SELECT p.pair_id, p.moment_id IS NOT NULL, count(s.seat_no), coalesce(max(s.seat_no), 0), "
        "coalesce(sum(s.annotator_id IS NOT NULL AND s.lease_until IS NULL), 0) "
        "FROM pair p LEFT JOIN seat s USING (pair_id) GROUP BY p.pair_id"
    )
    for row in rows:
        yield PairId(row[0]), bool(row[1]), row[2], row[3], row[4]


def wrong_agenda(db: Database) -> list[str]:
    """Return the batches whose row in the agenda is wrong, missing or superfluous.

    The agenda is the table of batches in which annotators can still take a place. A batch is a group of pairs of one
    query that are handed out together.
    """
    expected = candidates_rows.AGENDA_ROWS.format(where="TRUE")
    stored = "SELECT batch_id, nearest, position FROM agenda"
    return listed(
        db,
        f"SELECT DISTINCT 'batch ' || batch_id FROM (SELECT * FROM (SELECT * FROM ({expected}) EXCEPT {stored}) "
        f"UNION ALL SELECT * FROM ({stored} EXCEPT SELECT * FROM ({expected})))",
    )


def clips(db: Database) -> Iterator[tuple[float, float, str, float]]:
    """Yield (start_s, end_s, SHA-256 of the video, duration_s of the video) of moments with a known video file."""
    rows = db.conn.execute(
        "SELECT m.start_s, m.end_s, v.sha256, v.duration_s FROM moment m JOIN video v USING (video_id) "
        "WHERE v.sha256 IS NOT NULL"
    )
    for row in rows:
        yield row[0], row[1], row[2], row[3]


def videos_wanted(db: Database) -> list[tuple[str, str]]:
    """Return (name, path) of the videos with a known file that are still needed for grading or an exam."""
    rows = db.conn.execute(
        "SELECT v.name, v.path FROM video v WHERE v.path IS NOT NULL AND EXISTS (SELECT 1 FROM moment m "
        "JOIN pair p USING (moment_id) JOIN seat s USING (pair_id) LEFT JOIN consensus c USING (pair_id) "
        "WHERE m.video_id = v.video_id AND coalesce(c.verdict, 'escalated') = 'escalated' "
        "AND (s.annotator_id IS NULL OR s.lease_until IS NOT NULL) "
        "UNION ALL SELECT 1 FROM exam e JOIN exam_item i USING (exam_id) JOIN pair p USING (pair_id) "
        "JOIN moment m USING (moment_id) WHERE m.video_id = v.video_id AND e.ended_at IS NULL) ORDER BY v.name"
    )
    return [(row[0], row[1]) for row in rows]
