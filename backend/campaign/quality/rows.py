"""What one person did, for their own eyes: every grade they gave here, and what its pair came to. Reads only."""

from typing import NamedTuple

from backend.ground.ids import AnnotatorId
from backend.store.engine import Database


class GivenHere(NamedTuple):
    """One judgement of the person; `relevance` and `agreed` only where the pair is settled for good.

    `recent`: somebody graded the pair so lately that they may take it back.
    """

    grade: int
    at: float
    active_ms: int
    is_first: bool
    stands: bool
    simulated: bool
    recent: bool
    relevance: int | None
    agreed: float | None


def judgements(db: Database, me: AnnotatorId, *, final_before: float) -> list[GivenHere]:
    """Every judgement this person made here, the oldest first.

    Args:
        db: the database.
        me: whose.
        final_before: a verdict is told only if all grades of its pair are older than this instant; so nobody
            learns how others graded while a grade of that pair can still be taken back.
    """
    rows = db.conn.execute(
        """
        SELECT j.grade, j.graded_at, j.active_ms, j.revision = 1,
          EXISTS (SELECT 1 FROM standing s WHERE s.judgement_id = j.judgement_id), j.simulated,
          EXISTS (SELECT 1 FROM judgement o WHERE o.pair_id = j.pair_id AND o.graded_at > :final) AS recent,
          c.relevance, CASE c.verdict WHEN 'consensus' THEN c.mean ELSE c.relevance END
        FROM judgement j
        LEFT JOIN consensus c ON c.pair_id = j.pair_id AND c.verdict IN ('consensus', 'adjudicated') AND NOT recent
        WHERE j.annotator_id = :me AND j.imported = 0
        ORDER BY j.graded_at
        """,
        {"me": me, "final": final_before},
    )
    return [GivenHere(r[0], r[1], r[2], bool(r[3]), bool(r[4]), bool(r[5]), bool(r[6]), r[7], r[8]) for r in rows]


def imported(db: Database, me: AnnotatorId) -> int:
    """How many judgements of earlier campaigns are this person's; such a one has a single revision."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM judgement WHERE annotator_id = ? AND imported = 1", [me]
    ).fetchone()[0]
    return count


def skips(db: Database, me: AnnotatorId) -> int:
    """How many skips of this person stand."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM skip WHERE annotator_id = ? AND lifted_at IS NULL", [me]
    ).fetchone()[0]
    return count
