"""How far the work is, how fast it goes, and when it may be done.

*Reads* judgements, seats, verdicts, *writes* nothing. How many pairs have which verdict says `status`.
"""

from backend.campaign.project.folder import Project
from backend.campaign.review.model import DayCount, WorkProgress
from backend.campaign.review.rows import progress
from backend.ground.days import last_days, midnight
from backend.store.connection import reading

DAYS = 30
DAY_S = 86_400.0
WEEK_DAYS = 7


def report(project: Project, *, now: float) -> WorkProgress:
    """Everything of one instant. A day begins at the server's midnight, as on the annotators' desks.

    The pace is that of the last seven days, or, while fewer have passed since people began, of those (at least one).
    """
    week_ago = now - WEEK_DAYS * DAY_S
    with reading(project.store) as db:
        found = {day.day: day for day in progress.days(db, midnight(now, days_ago=DAYS - 1))}
        paces = progress.paces(db, midnight=midnight(now), week_ago=week_ago)
        began = min((at for _, _, at in paces if at is not None), default=now)
        span_days = min(max((now - began) / DAY_S, 1.0), WEEK_DAYS)
        return WorkProgress(
            needed=progress.needed(db),
            held=progress.held(db, now),
            days=tuple(found.get(name, DayCount(name, 0, 0)) for name in last_days(now, DAYS)),
            people=tuple(pace for pace, may_work, _ in paces if may_work),
            imported=progress.imported(db),
            a_day=sum(pace.week for pace, _, _ in paces) / span_days,
        )
