"""How fast the work goes: judgements by day and by person, what is still needed, what is in people's hands.

Reads only. A judgement counts at its first revision: a corrected grade is no further work. Imported and simulated
ones were not made here by people, so nothing that tells of pace counts them.
"""

from backend.campaign.review.model import DayCount, PersonPace
from backend.store.engine import Database

_BY_PEOPLE = "j.revision = 1 AND j.simulated = 0 AND j.imported = 0"


def days(db: Database, since: float) -> list[DayCount]:
    """Judgements of each local day from an instant on; days without any have no row."""
    # CROSS JOIN: the index of judgements begins with the person, and people are few.
    rows = db.conn.execute(
        "SELECT date(j.graded_at, 'unixepoch', 'localtime') AS day, sum(j.simulated = 0), sum(j.simulated) "
        "FROM annotator a CROSS JOIN judgement j USING (annotator_id) "
        "WHERE j.graded_at >= ? AND j.revision = 1 AND j.imported = 0 GROUP BY day ORDER BY day",
        [since],
    )
    return [DayCount(*row) for row in rows]


def paces(db: Database, *, midnight: float, week_ago: float) -> list[tuple[PersonPace, bool, float | None]]:
    """What every annotator judged since midnight and in the last seven days, the busiest first.

    Returns:
        (pace, whether the person may work, when they began) of each.
    """
    rows = db.conn.execute(
        "SELECT a.name, coalesce(sum(j.graded_at >= :midnight), 0), coalesce(sum(j.graded_at >= :week), 0) AS week, "
        "a.suspended = 0 AND a.simulated = 0 AND NOT EXISTS (SELECT 1 FROM pause u WHERE u.ended_at IS NULL "
        "AND u.annotator_id = a.annotator_id), min(j.graded_at) "
        f"FROM annotator a LEFT JOIN judgement j ON j.annotator_id = a.annotator_id AND {_BY_PEOPLE} "
        "WHERE a.role = 'annotator' GROUP BY a.annotator_id ORDER BY week DESC, a.name",
        {"midnight": midnight, "week": week_ago},
    )
    return [(PersonPace(*row[:3]), bool(row[3]), row[4]) for row in rows]


def imported(db: Database) -> int:
    """Judgements of earlier campaigns."""
    count: int = db.conn.execute("SELECT count(*) FROM judgement WHERE revision = 1 AND imported = 1").fetchone()[0]
    return count


def needed(db: Database) -> int:
    """Grades until every open or escalated pair that can be handed out has all its seats judged."""
    # Only batches on the agenda have such pairs; CROSS JOIN keeps SQLite from starting with all seats there are.
    count: int = db.conn.execute(
        "SELECT count(*) FROM agenda a CROSS JOIN pair p USING (batch_id) CROSS JOIN seat s USING (pair_id) "
        "LEFT JOIN consensus c USING (pair_id) WHERE (s.annotator_id IS NULL OR s.lease_until IS NOT NULL) "
        "AND coalesce(c.verdict, 'escalated') = 'escalated' "
        "AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id) "
        "AND NOT EXISTS (SELECT 1 FROM set_aside o WHERE o.pair_id = p.pair_id)"
    ).fetchone()[0]
    return count


def undecided(db: Database) -> int:
    """Pairs that can be handed out and lack one of their first two grades."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM agenda a CROSS JOIN pair p USING (batch_id) LEFT JOIN consensus c USING (pair_id) "
        "WHERE c.verdict IS NULL AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id)"
    ).fetchone()[0]
    return count


def disputed(db: Database) -> tuple[int, int]:
    """(pairs with their first two grades, how many of them went on to two further annotators)."""
    row = db.conn.execute(
        "SELECT count(*), count(s.pair_id) FROM consensus c LEFT JOIN seat s ON s.pair_id = c.pair_id AND s.seat_no = 3"
    ).fetchone()
    return row[0], row[1]


def held(db: Database, now: float) -> int:
    """Pairs that are in somebody's hands now: their lease has not run out."""
    count: int = db.conn.execute(
        "SELECT count(DISTINCT pair_id) FROM seat WHERE lease_until >= ?",
        [now],
    ).fetchone()[0]
    return count
