"""SQL that counts a lead's tasks of each kind, and returns the time of the newest.

Reads only. Each statement reads a range of an index, or few rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from backend.campaign.judging.model import PERSON_PAUSED
from backend.campaign.qualification.gold.questions import GOLD_WARNED
from backend.campaign.selection.candidates.rows import STILL_LISTED
from backend.core.ids import AnnotatorId, QueryId
from backend.store.engine import Database

_OPEN = "coalesce(c.verdict, 'escalated') = 'escalated'"


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many tasks of one kind a lead has, when the newest arose (seconds since 1970), and the people concerned."""

    count: int = 0
    newest: float | None = None
    who: tuple[str, ...] = ()


def discarded(db: Database) -> Waiting:
    """Count the discarded pairs that no lead has adjudicated or confirmed as discarded."""
    return _counted(
        db,
        "SELECT count(DISTINCT c.pair_id), max(j.graded_at) FROM consensus c LEFT JOIN judgement j USING (pair_id) "
        "WHERE c.verdict = 'discarded' AND c.pair_id NOT IN (SELECT pair_id FROM confirmed_discard)",
    )


def notes(db: Database) -> Waiting:
    """Count the annotators' notes that no lead has replied to. Notes on corrected grades are left out."""
    return _counted(
        db,
        "SELECT count(*), max(j.graded_at) FROM standing_note n JOIN judgement j USING (judgement_id) "
        "WHERE NOT EXISTS (SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id)",
    )


def newest_note(db: Database) -> tuple[str, str] | None:
    """Return (author, text) of the newest annotator's note without a reply; None if all have one."""
    row = db.conn.execute(
        "SELECT a.name, n.text FROM standing_note n JOIN annotator a USING (annotator_id) "
        "WHERE NOT EXISTS (SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id) "
        "ORDER BY n.judgement_id DESC LIMIT 1"
    ).fetchone()
    return (row[0], row[1]) if row else None


def skipped(db: Database) -> Waiting:
    """Count the unsettled pairs that somebody skipped, and name those who skipped, the most skips first.

    Skips that report a broken clip, and pairs whose clip cannot be shown, are left out; other functions count them.
    """
    of_pairs = (
        "FROM skip k JOIN pair p USING (pair_id) JOIN annotator a USING (annotator_id) "
        f"LEFT JOIN consensus c USING (pair_id) WHERE k.lifted_at IS NULL AND k.kind <> 'broken_clip' AND {_OPEN} "
        "AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault)"
    )
    found = _counted(db, f"SELECT count(DISTINCT k.pair_id), max(k.skipped_at) {of_pairs}")
    who = db.conn.execute(f"SELECT a.name {of_pairs} GROUP BY a.annotator_id, a.name ORDER BY count(*) DESC, a.name")
    return replace(found, who=tuple(row[0] for row in who))


def blocked(db: Database) -> Waiting:
    """Count the unsettled pairs whose clip cannot be shown."""
    return _counted(
        db,
        "SELECT count(*), max(f.reported_at) FROM clip_fault f JOIN pair p USING (moment_id) "
        f"LEFT JOIN consensus c USING (pair_id) WHERE {_OPEN}",
    )


_READY = f"""
  SELECT b.query_id FROM batch b WHERE b.number IS NOT NULL GROUP BY b.query_id
  HAVING NOT EXISTS (SELECT 1 FROM batch o JOIN agenda a USING (batch_id)
    WHERE o.query_id = b.query_id AND o.number IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM set_aside s JOIN pair p USING (pair_id) JOIN batch o USING (batch_id)
    LEFT JOIN consensus c USING (pair_id) WHERE p.query_id = b.query_id AND o.number IS NOT NULL
    AND {_OPEN} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault))
  AND NOT EXISTS (SELECT 1 FROM declined_batch d WHERE d.query_id = b.query_id AND d.ended_at IS NULL)
  AND {STILL_LISTED.format(query="b.query_id")} > 0
"""
"""Queries of which a lead may open the next batch: candidates are left, and nobody declined it.

Their open batches are done as far as possible. Pairs that lack a grade are on the agenda, except those that an exam
asks and those whose clip cannot be shown.
"""


def last_candidates(db: Database, last: int) -> Iterator[tuple[QueryId, list[int | None], float | None]]:
    """Yield the queries whose next batch a lead may open, with the relevances of their last candidates.

    By these relevances, a rule recommends whether to open the next batch.

    Args:
        db: the database.
        last: how many candidates of each query to take: those with the highest rank numbers in its open batches.
            Batches opened for runs that were submitted later are left out.

    Yields:
        The query, the relevances of these candidates in rank order (None: without relevance), and when one of them was
        last graded, in seconds since 1970 (None: never).
    """
    rows = db.conn.execute(
        "SELECT l.query_id, c.relevance, (SELECT max(j.graded_at) FROM judgement j WHERE j.pair_id = l.pair_id) "
        "FROM (SELECT p.query_id, p.pair_id, p.rank, "
        "  row_number() OVER (PARTITION BY p.query_id ORDER BY p.rank DESC) AS place "
        "  FROM pair p JOIN batch h USING (batch_id) "
        f"  WHERE h.number IS NOT NULL AND h.part = 1 AND p.query_id IN ({_READY})) AS l "
        "LEFT JOIN consensus c USING (pair_id) WHERE l.place <= ? ORDER BY l.query_id, l.rank",
        [last],
    )
    for query_id, found in groupby(rows, key=lambda row: row[0]):
        pairs = list(found)
        newest = max((row[2] for row in pairs if row[2] is not None), default=None)
        yield QueryId(query_id), [row[1] for row in pairs], newest


def descriptions(db: Database) -> Waiting:
    """Count the annotators' descriptions of moments that no lead has accepted or sent back."""
    return _counted(
        db,
        "SELECT count(*), max((SELECT max(a.at) FROM description_act a WHERE a.description_id = d.description_id)) "
        "FROM description d WHERE d.status = 'waiting'",
    )


def paused(db: Database) -> Waiting:
    """Count the annotators who are paused. Those who are also suspended are left out."""
    return _people(
        db,
        "SELECT a.name, u.paused_at FROM pause u JOIN annotator a USING (annotator_id) "
        "WHERE u.ended_at IS NULL AND a.suspended = 0 ORDER BY u.pause_id DESC",
    )


def warned_by_gold(db: Database) -> list[tuple[AnnotatorId, str, float]]:
    """Return (annotator_id, name, time) of annotators whose last result on gold questions was a warning.

    Gold questions are hidden pairs with a known grade. Suspended annotators are left out, and so are warnings from
    before their last pause.
    """
    rows = db.conn.execute(
        "SELECT g.annotator_id, a.name, g.found_at FROM gold_finding g JOIN annotator a USING (annotator_id) "
        "WHERE a.suspended = 0 AND g.kind = 'warned' AND g.gold_finding_id = "
        "(SELECT max(gold_finding_id) FROM gold_finding l WHERE l.annotator_id = g.annotator_id) "
        # By the order of events, not by times, which go wrong when the clock is set back.
        "AND NOT EXISTS (SELECT 1 FROM event p WHERE p.kind = ? AND p.subject = 'annotator:' || g.annotator_id "
        "AND p.event_id > (SELECT max(w.event_id) FROM event w WHERE w.kind = ? AND w.subject = p.subject))",
        [PERSON_PAUSED.kind, GOLD_WARNED.kind],
    )
    return [(AnnotatorId(row[0]), row[1], row[2]) for row in rows]


def unsettled_items(db: Database, exam_id: int) -> int:
    """Count the unsettled pairs of an exam or a calibration round whose clip can be shown."""
    found = _counted(
        db,
        "SELECT count(*), NULL FROM exam_item i JOIN pair p USING (pair_id) LEFT JOIN consensus c USING (pair_id) "
        f"WHERE i.exam_id = {int(exam_id)} AND {_OPEN} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault)",
    )
    return found.count


def last_graded(db: Database, me: AnnotatorId) -> float | None:
    """Return when an annotator gave their newest grade or skip, in seconds since 1970; None without any."""
    at: float | None = db.conn.execute(
        "SELECT max(at) FROM (SELECT max(graded_at) AS at FROM judgement WHERE annotator_id = :me "
        "UNION ALL SELECT max(skipped_at) FROM skip WHERE annotator_id = :me) AS newest",
        {"me": me},
    ).fetchone()[0]
    return at


def at_work(db: Database) -> frozenset[AnnotatorId]:
    """Return the annotators who are neither suspended nor simulated."""
    rows = db.conn.execute(
        "SELECT annotator_id FROM annotator WHERE role = 'annotator' AND suspended = 0 AND simulated = 0"
    )
    return frozenset(AnnotatorId(row[0]) for row in rows)


def _counted(db: Database, sql: str) -> Waiting:
    count, newest = db.conn.execute(sql).fetchone()
    return Waiting(count, newest)


def _people(db: Database, sql: str) -> Waiting:
    rows = db.conn.execute(sql).fetchall()
    return Waiting(len(rows), max((row[1] for row in rows), default=None), tuple(row[0] for row in rows))
