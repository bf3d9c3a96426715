"""Credit working time: the time that a browser claims, limited to the time that passed on the server.

A browser may claim any time. So the server limits each claim by two values that it measures itself: when the person got
the work, and how much time was credited to them since. It does not use the time at which a clip came on screen.
That time also comes from the browser, and an offline browser sends it late.

*Reads* judgements, answers to gold questions and exam questions, descriptions.
"""

from dataclasses import dataclass

from backend.campaign.setup.people import rows
from backend.core.days import DAY_MS
from backend.core.ids import AnnotatorId
from backend.store.connection import Database

_DAY_S = DAY_MS / 1000
_MOST_MS = 2**31 - 1
"""The largest credited time; sums of larger numbers could overflow."""


@dataclass(frozen=True, slots=True)
class WorkTime:
    """Working time credited for one grade, answer or description, in milliseconds.

    `active_ms` is the time in which the person was active. `elapsed_ms` is the time for which the work was on screen;
    None where that was not measured.
    """

    active_ms: int
    elapsed_ms: int | None


def clamp_count(number: int) -> int:
    """Limit a number that a browser sent to the range from 0 to 2**31 - 1, so that sums do not overflow.

    >>> clamp_count(4_100), clamp_count(-1), clamp_count(2**52)
    (4100, 0, 2147483647)
    """
    return min(max(0, number), _MOST_MS)


def limit_to_server_time(active_ms: int, elapsed_ms: int | None, *, passed_ms: int, credited_ms: int) -> WorkTime:
    """Limit working times that a browser claims to the server time that has not been credited yet.

    So the times credited to a person never add up to more than the time from their first work to their last answer.
    This holds for answers in any order, and for many that arrive at once. Work that was done offline is credited in
    full when it arrives, because the time since it was handed out is long enough.

    Args:
        active_ms: claimed active time.
        elapsed_ms: claimed time on screen, which bounds the active time; None where nobody measured it.
        passed_ms: server time since the person got the work; at most one day of it is used.
        credited_ms: time credited to the person since they got the work.

    >>> limit_to_server_time(9_000, 4_000, passed_ms=60_000, credited_ms=0)
    WorkTime(active_ms=4000, elapsed_ms=4000)
    >>> limit_to_server_time(2_145_600_000, None, passed_ms=60_000, credited_ms=45_000)
    WorkTime(active_ms=15000, elapsed_ms=None)
    """
    left_ms = max(0, min(passed_ms, DAY_MS) - credited_ms)
    elapsed_ms = None if elapsed_ms is None else min(clamp_count(elapsed_ms), left_ms)
    return WorkTime(min(clamp_count(active_ms), left_ms if elapsed_ms is None else elapsed_ms), elapsed_ms)


def work_time(
    db: Database, me: AnnotatorId, active_ms: int, elapsed_ms: int | None, *, since: float | None, now: float
) -> WorkTime:
    """Return the working time to credit for one grade, answer or description, given the times that the browser claims.

    Args:
        db: the database, in the transaction that stores the grade, answer or description.
        me: the person.
        active_ms: claimed active time.
        elapsed_ms: claimed time on screen; None where nobody measured it.
        since: when they got the work, in seconds since 1970. If it is None, because an earlier release did not store
            it, or lies ahead because the clock was set back, the time since their previous work counts.
        now: seconds since 1970.
    """
    start = credit_from(since, now)
    if start is None:
        start = max(rows.last_credited(db, me, now=now) or now, now - _DAY_S)
    credited_ms = rows.credited_since(db, me, start, now=now)
    return limit_since(start, active_ms, elapsed_ms, credited_ms=credited_ms, now=now)


def credit_from(since: float | None, now: float) -> float | None:
    """Return since when working time can be credited, given when a person got the work; at most a day ago.

    None if only the time of their previous work can tell; see `work_time`.
    """
    return None if since is None or since > now else max(since, now - _DAY_S)


def limit_since(start: float, active_ms: int, elapsed_ms: int | None, *, credited_ms: int, now: float) -> WorkTime:
    """Limit working times as `limit_to_server_time` does, given the time since which they can be credited."""
    passed_ms = max(0, int((now - start) * 1000))
    return limit_to_server_time(active_ms, elapsed_ms, passed_ms=passed_ms, credited_ms=credited_ms)
