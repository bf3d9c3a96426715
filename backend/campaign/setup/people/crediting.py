"""Credit working time: what a browser claims, but never more than the server time that passed.

A browser may claim anything. So the server bounds every claim by what it knows itself: when the person got the work,
and what was credited to them since. The time at which a clip came on screen is no such bound. It comes from the browser
too, and a browser that was offline sends it late.

*Reads* judgements, answers to gold questions and exam questions, descriptions.
"""

from dataclasses import dataclass

from backend.campaign.setup.people import rows
from backend.core.days import DAY_MS
from backend.core.ids import AnnotatorId
from backend.store.connection import Database

_MOST_MS = 2**31 - 1
"""The largest credited time; sums of larger numbers could overflow."""


@dataclass(frozen=True, slots=True)
class WorkTime:
    """Credited time of one grade, answer or description, in milliseconds.

    `elapsed_ms` is None where nobody measured it.
    """

    active_ms: int
    elapsed_ms: int | None


def clamp_count(number: int) -> int:
    """Limit a number that a browser sent: to 0 or more, and to a size at which sums of it do not overflow.

    >>> clamp_count(4_100), clamp_count(-1), clamp_count(2**52)
    (4100, 0, 2147483647)
    """
    return min(max(0, number), _MOST_MS)


def limit_to_server_time(active_ms: int, elapsed_ms: int | None, *, passed_ms: int, credited_ms: int) -> WorkTime:
    """Cut claimed times to the server time that is left for them.

    The credits of a person never add up to more than the time from the first hand-out to the last event. This holds for
    events in any order, and for many that arrive at once. Work that was done offline is credited in full when it
    arrives, because it was handed out before.

    Args:
        active_ms: claimed active time.
        elapsed_ms: claimed time on screen, which bounds the active time; None where nobody measured it.
        passed_ms: server time since the person got the work; nothing older than a day counts.
        credited_ms: what was credited to the person for events that were stored since then.

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
    """Return the time that is credited to a person for an event, given the times that the browser claims.

    Args:
        db: the database, in the transaction that stores the event.
        me: the person.
        active_ms: claimed active time.
        elapsed_ms: claimed time on screen; None where nobody measured it.
        since: when they got the work, in seconds since 1970. None, for a seat claimed before this time was stored,
            counts the time since their previous event.
        now: seconds since 1970.
    """
    if since is None:
        since = rows.last_credited(db, me) or now
    since = max(since, now - DAY_MS / 1000)
    return limit_to_server_time(
        *(active_ms, elapsed_ms),
        passed_ms=max(0, int((now - since) * 1000)),
        credited_ms=rows.credited_since(db, me, since),
    )
