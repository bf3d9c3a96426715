"""How far the work is, how fast it goes, what of it is stuck, and when it may be done.

*Reads* judgements, seats, verdicts, *writes* nothing. How many pairs have which verdict says `review.status`.
"""

from backend.campaign.monitoring.progress import watching
from backend.campaign.monitoring.progress.model import DayCount, WorkProgress
from backend.campaign.monitoring.progress.rows import progress
from backend.campaign.setup.project.folder import Project
from backend.core.days import last_days, midnight
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
        began = min((one.began for one in paces if one.began is not None), default=now)
        span_days = min(max((now - began) / DAY_S, 1.0), WEEK_DAYS)
        return WorkProgress(
            ahead=watching.ahead(db, paces, span_days=span_days),
            held=progress.held(db, now),
            days=tuple(found.get(name, DayCount(name, 0, 0)) for name in last_days(now, DAYS)),
            people=tuple(one.pace for one in paces if one.may_work),
            imported=progress.imported(db),
            a_day=sum(one.pace.week for one in paces) / span_days,
        )
