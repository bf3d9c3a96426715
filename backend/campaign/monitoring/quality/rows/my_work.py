"""What one person did, for their own eyes: every grade they gave, and what its pair came to. Reads only."""

from typing import NamedTuple

from backend.core.ids import AnnotatorId
from backend.store.engine import Database


class Given(NamedTuple):
    """One grade of the person; `relevance` and `agreed` only where the pair is settled for good.

    `recent`: somebody graded the pair so lately that they may take it back.
    """

    grade: int
    at: float
    active_ms: int
    is_first: bool
    stands: bool
    simulated: bool
    imported: bool
    recent: bool
    relevance: int | None
    agreed: float | None


def judgements(db: Database, me: AnnotatorId, *, final_before: float) -> list[Given]:
    """Every grade this person gave, the oldest first; gold pairs among them, so that counting does not tell them apart.

    Args:
        db: the database.
        me: whose.
        final_before: a verdict is told only if all grades of its pair are older than this instant; so nobody
            learns how others graded while a grade of that pair can still be taken back.
    """
    rows = db.conn.execute(
        """
        WITH fresh AS MATERIALIZED (  -- CROSS JOIN: people are few, and each has an index by time
          SELECT j.pair_id FROM annotator a CROSS JOIN judgement j USING (annotator_id) WHERE j.graded_at > :final)
        SELECT j.grade, j.graded_at, j.active_ms, j.revision = 1,
          EXISTS (SELECT 1 FROM standing s WHERE s.judgement_id = j.judgement_id), j.simulated,
          j.imported, j.pair_id IN (SELECT pair_id FROM fresh) AS recent, c.relevance,
          CASE c.verdict WHEN 'consensus' THEN c.mean ELSE c.relevance END
        FROM judgement j
        LEFT JOIN consensus c ON c.pair_id = j.pair_id AND c.verdict IN ('consensus', 'adjudicated') AND NOT recent
        WHERE j.annotator_id = :me
        UNION ALL
        SELECT g.grade, g.graded_at, g.active_ms, g.revision = 1, g.revision = n.revision, 0, 0,
          n.graded_at > :final, iif(n.graded_at > :final, NULL, c.relevance),
          iif(n.graded_at > :final, NULL, CASE c.verdict WHEN 'consensus' THEN c.mean ELSE c.relevance END)
        FROM gold_answer g JOIN (SELECT pair_id, max(revision) AS revision, max(graded_at) AS graded_at
          FROM gold_answer WHERE annotator_id = :me GROUP BY pair_id) AS n USING (pair_id)
        LEFT JOIN consensus c ON c.pair_id = g.pair_id AND c.verdict IN ('consensus', 'adjudicated')
        WHERE g.annotator_id = :me
        ORDER BY 2
        """,
        {"me": me, "final": final_before},
    )
    return [
        Given(r[0], r[1], r[2], bool(r[3]), bool(r[4]), bool(r[5]), bool(r[6]), bool(r[7]), r[8], r[9]) for r in rows
    ]


def skips(db: Database, me: AnnotatorId) -> int:
    """How many skips of this person stand."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM skip WHERE annotator_id = ? AND lifted_at IS NULL", [me]
    ).fetchone()[0]
    return count
