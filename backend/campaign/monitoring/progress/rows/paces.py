"""Count judgements by day and by person, and the pairs that people hold.

Reads only. A judgement counts at its first revision: a corrected grade is no further work. Imported and simulated
ones were not made here by people, so nothing that tells of pace counts them.
"""

from dataclasses import dataclass

from backend.campaign.monitoring.progress.model import DayCount, PersonPace
from backend.core.ids import AnnotatorId
from backend.store.engine import Database

_BY_PEOPLE = "j.revision = 1 AND j.simulated = 0 AND j.imported = 0"


def days(db: Database, since: float) -> list[DayCount]:
    """Return the judgements of each local day from an instant on; days without any have no row."""
    # CROSS JOIN: the index of judgements begins with the person, and people are few.
    rows = db.conn.execute(
        "SELECT date(j.graded_at, 'unixepoch', 'localtime') AS day, sum(j.simulated = 0), sum(j.simulated) "
        "FROM annotator a CROSS JOIN judgement j USING (annotator_id) "
        "WHERE j.graded_at >= ? AND j.revision = 1 AND j.imported = 0 GROUP BY day ORDER BY day",
        [since],
    )
    return [DayCount(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Pace:
    """One annotator with their pace, since when they work here, and what may keep them from it."""

    annotator_id: AnnotatorId
    pace: PersonPace
    began: float | None
    suspended: bool
    simulated: bool
    paused: bool
    elsewhere: bool
    """Whether they worked in an earlier campaign alone, and nobody has invited them here."""

    @property
    def may_work(self) -> bool:
        """Whether nothing about the person keeps them from work; the exam is looked at elsewhere."""
        return not (self.suspended or self.simulated or self.paused or self.elsewhere)


def paces(db: Database, *, midnight: float, week_ago: float) -> list[Pace]:
    """Return what every annotator judged since midnight and in the last seven days, the busiest first."""
    return _paces(db, _BY_PEOPLE, midnight, week_ago)


def everybody(db: Database) -> list[Pace]:
    """Return every annotator without a pace, which needs no look at judgements."""
    return _paces(db, "FALSE", 0.0, 0.0)


def _paces(db: Database, counted: str, midnight: float, week_ago: float) -> list[Pace]:
    rows = db.conn.execute(
        "SELECT a.name, coalesce(sum(j.graded_at >= :midnight), 0), coalesce(sum(j.graded_at >= :week), 0) AS week, "
        "a.annotator_id, min(j.graded_at), a.suspended, a.simulated, "
        "EXISTS (SELECT 1 FROM pause u WHERE u.ended_at IS NULL AND u.annotator_id = a.annotator_id), "
        "a.password_hash IS NULL AND coalesce((SELECT f.imported FROM judgement f "
        "  WHERE f.annotator_id = a.annotator_id ORDER BY f.judgement_id LIMIT 1), 0) "
        "  AND NOT EXISTS (SELECT 1 FROM invitation i WHERE i.annotator_id = a.annotator_id) "
        "  AND NOT EXISTS (SELECT 1 FROM identity d WHERE d.annotator_id = a.annotator_id) "
        f"FROM annotator a LEFT JOIN judgement j ON j.annotator_id = a.annotator_id AND {counted} "
        "WHERE a.role = 'annotator' GROUP BY a.annotator_id ORDER BY week DESC, a.name",
        {"midnight": midnight, "week": week_ago},
    )
    return [
        Pace(AnnotatorId(r[3]), PersonPace(r[0], r[1], r[2]), r[4], bool(r[5]), bool(r[6]), bool(r[7]), bool(r[8]))
        for r in rows
    ]


def imported(db: Database) -> int:
    """Count the judgements of earlier campaigns."""
    count: int = db.conn.execute("SELECT count(*) FROM judgement WHERE revision = 1 AND imported = 1").fetchone()[0]
    return count


def held(db: Database, now: float) -> int:
    """Count the pairs that somebody holds now, with a lease that has not run out."""
    count: int = db.conn.execute(
        "SELECT count(DISTINCT pair_id) FROM seat WHERE lease_until >= ?",
        [now],
    ).fetchone()[0]
    return count
