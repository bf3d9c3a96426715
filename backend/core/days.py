"""Convert between instants and calendar days in the server's time zone, where some days have 23 or 25 hours."""

from datetime import UTC, date, datetime, time, timedelta

from backend.core.messages import said, said_n

DAY_MS = 24 * 3_600_000


def within_a_day(*parts_ms: int) -> tuple[int, ...]:
    """Reduce one person's working times of one day in proportion, so that they add up to at most 24 h.

    Every report uses this, because stored times may add up to more. Work of one day may arrive at the server on the
    next day, and old records hold whatever time a browser claimed.

    Args:
        parts_ms: the working times in milliseconds.

    >>> within_a_day(7_200_000, 3_600_000), within_a_day(596 * 3_600_000, 149 * 3_600_000)
    ((7200000, 3600000), (69120000, 17280000))
    """
    total_ms = sum(parts_ms)
    return parts_ms if total_ms <= DAY_MS else tuple(part * DAY_MS // total_ms for part in parts_ms)


def midnight(now: float, days_ago: int = 0) -> float:
    """Return when a day began, in seconds since 1970: the day of an instant, or one some days earlier.

    Args:
        now: the instant, in seconds since 1970.
        days_ago: how many days earlier.
    """
    return datetime.combine(_date(now) - timedelta(days=days_ago), time()).timestamp()


def day_of(at: float) -> str:
    """Return the day of an instant (seconds since 1970), as `2026-03-14`."""
    return _date(at).isoformat()


def monday_of(day: str) -> str:
    """Return the Monday with which the week of a day begins.

    >>> monday_of("2026-03-14")
    '2026-03-09'
    """
    date_of_day = date.fromisoformat(day)
    return (date_of_day - timedelta(days=date_of_day.weekday())).isoformat()


def start_of_day(day: str) -> float:
    """Return when a day such as `2026-03-14` began, in seconds since 1970."""
    return datetime.combine(date.fromisoformat(day), time()).timestamp()


def end_of_day(day: str) -> float:
    """Return when a day such as `2026-03-14` ended and the next began, in seconds since 1970."""
    return datetime.combine(date.fromisoformat(day) + timedelta(days=1), time()).timestamp()


def last_days(now: float, count: int) -> list[str]:
    """Return the day of an instant (seconds since 1970) and the days before it, `count` in all, oldest first."""
    today = _date(now)
    return [(today - timedelta(days=n)).isoformat() for n in reversed(range(count))]


def instant(at: float) -> str:
    """Return an instant (seconds since 1970) as UTC text, to the second.

    >>> instant(0.9)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def lasts(since: float, length_s: float, *, now: float) -> bool:
    """Return whether something that began at `since` (seconds since 1970) and lasts `length_s` seconds goes on.

    If it begins later than `length_s` from now, the clock was set back, and it is over: nothing lasts longer than twice
    its length.

    >>> [lasts(1_000.0, 60, now=now) for now in (900.0, 950.0, 1_060.0, 1_061.0)]
    [False, True, True, False]
    """
    return abs(now - since) <= length_s


def _date(at: float) -> date:
    return datetime.fromtimestamp(at).date()


def ago(seconds: float) -> str:
    """Return in words roughly how long ago something was.

    >>> [ago(20), ago(250), ago(7200), ago(3 * 86_400)]
    ['just now', '4 minutes ago', '2 hours ago', '3 days ago']
    """
    days, hours, minutes = (int(seconds // length_s) for length_s in (86_400, 3600, 60))
    if days >= 2:
        return said("{n} days ago", n=days)
    if hours > 0:
        return said_n("{n} hour ago", "{n} hours ago", hours)
    return said_n("{n} minute ago", "{n} minutes ago", minutes) if minutes > 0 else said("just now")


def done_at(at: float, by: str | None, now: float) -> str:
    """Say that an act was done at an instant (seconds since 1970, shown in UTC), by a person; None is a command.

    >>> done_at(52_320, "Ana", now=60_000)
    'This was done at 14:32 UTC by Ana: nothing is left to do.'
    >>> done_at(52_320, None, now=100_000)
    'This was done on 1970-01-01 at 14:32 UTC by the command line: nothing is left to do.'
    """
    then, who = datetime.fromtimestamp(at, UTC), by or said("the command line", _context="by")
    if then.date() == datetime.fromtimestamp(now, UTC).date():
        return said("This was done at {time} UTC by {who}: nothing is left to do.", time=f"{then:%H:%M}", who=who)
    return said(
        "This was done on {day} at {time} UTC by {who}: nothing is left to do.",
        **{"day": then.date().isoformat(), "time": f"{then:%H:%M}", "who": who},
    )
