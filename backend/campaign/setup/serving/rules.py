"""Decide how sign-ins are slowed down, when a job counts as interrupted, and what a draft keeps. Pure."""

import hashlib
import math
from collections.abc import Mapping, Sequence

import msgspec

from backend.campaign.setup.serving.model import Delay, Failures, Job, JobKind, JobState, Typed
from backend.core.typed_text import name_key

FORGOTTEN_S = 3600.0
"""Failures count until no attempt was made for so long."""
FREE_FAILURES = {"pair": 3, "browser": 3, "name": 10, "address": 30}
"""How many failures delay nothing, for each counter."""
MOST_DELAY_S = {"pair": 300, "browser": 300, "name": 10, "address": 10}
UNHEARD_S = 60.0
"""Longer than this nothing that lives is silent: a process says every five seconds that it is there, and one whose
database is locked gives up after 30."""
QUIET_S = 6.0
"""A job that runs says so every five seconds: after this silence its lock file is looked at."""
KEPT = {JobKind.INTERVALS: 9}
"""How many jobs of a kind stay when they have ended, the newest ones; of any other kind it is one."""
DRAFT_S = 3600.0
MOST_CHARACTERS = 20_000


def counted_as(name: str, address: str, browser: str | None = None) -> dict[str, str]:
    """Return what an attempt to sign in is counted by, as digests.

    Args:
        name: the name that was typed, however it is spelled.
        address: where it came from.
        browser: the cookie of a browser on which this person signed in before. Its attempts count by themselves, so
            that nobody else's delay it.

    >>> sorted(counted_as("Ana", "10.0.0.1")), sorted(counted_as("Ana", "10.0.0.1", "a cookie"))
    (['address', 'name', 'pair'], ['browser'])
    >>> counted_as(" Ana ", "10.0.0.1") == counted_as("ANA", "10.0.0.1")
    True
    """
    name = name_key(name)
    by = {"browser": f"{browser}:{name}"}
    if browser is None:
        by = {"pair": f"{address}:{name}", "name": name, "address": address}
    return {kind: hashlib.sha256(f"{kind}:{text}".encode()).hexdigest() for kind, text in by.items()}


def delay_s(kind: str, failures: int) -> int:
    """Return the seconds between the last failure and the next attempt: none at first, then 1, 2, 4 and so on.

    >>> [delay_s("pair", failures) for failures in (2, 3, 4, 11, 12, 1000)]
    [0, 1, 2, 256, 300, 300]
    """
    beyond = failures - FREE_FAILURES[kind]
    return 0 if beyond < 0 else min(2 ** min(beyond, 10), MOST_DELAY_S[kind])


def delay(failed: Mapping[str, Failures], *, now: float) -> Delay:
    """Return how an attempt to sign in is slowed down.

    One's own failures (by name and address, or by a known browser) refuse the attempt for up to five minutes. Those of
    others, by name or by address, only hold it back for up to ten seconds: nobody can lock anybody out.

    Args:
        failed: what failed before, by what it is counted by.
        now: seconds since 1970.

    >>> delay({"pair": Failures(4, 10.0), "name": Failures(4, 10.0)}, now=10.5)
    Delay(refused_s=2, held_s=0.0)
    >>> delay({"name": Failures(500, 10.0), "address": Failures(31, 10.0)}, now=10.5)
    Delay(refused_s=0, held_s=9.5)
    """
    left = {
        kind: min(one.last_at, now) + delay_s(kind, one.failures) - now
        for kind, one in failed.items()
        if now - one.last_at < FORGOTTEN_S
    }
    refused = max((left[kind] for kind in ("pair", "browser") if kind in left), default=0.0)
    held = max((left[kind] for kind in ("name", "address") if kind in left), default=0.0)
    return Delay(math.ceil(max(refused, 0.0)), max(held, 0.0))


def current_job(job: Job, *, heard_at: float, lock_is_free: bool | None, now: float) -> Job:
    """Return a job with its state: it is interrupted if its lock is free, or if it was silent for too long.

    Args:
        job: as it was last reported.
        heard_at: when that was, in seconds since 1970.
        lock_is_free: whether nobody holds its lock file; None where this machine has no such file.
        now: seconds since 1970.
    """
    silent_s = UNHEARD_S if lock_is_free is None else QUIET_S if lock_is_free else math.inf
    if job.is_running and now - heard_at > silent_s:
        return msgspec.structs.replace(job, state=JobState.INTERRUPTED)
    return job


def outdated_jobs(jobs: Sequence[Job], kind: JobKind) -> list[Job]:
    """Return the jobs that go when another one of their kind begins: of those that ended all but the newest.

    Args:
        jobs: all jobs of the project, the newest first.
        kind: of the job that begins, which counts as one of those that stay.
    """
    ended = [job for job in jobs if job.kind is kind and not job.is_running]
    return ended[KEPT.get(kind, 1) - 1 :]


def worth_keeping(values: Mapping[str, object]) -> dict[str, Typed]:
    """Return what a draft keeps: texts, numbers and frozen sets, not buttons or files; nothing if it is too long.

    >>> worth_keeping({"reason": "wrote it", "button": True, "file": object()})
    {'reason': 'wrote it'}
    >>> worth_keeping({"reason": "x" * 20_001})
    {}
    """
    typed: dict[str, Typed] = {
        key: value
        for key, value in values.items()
        if isinstance(value, str | int | float | frozenset) and not isinstance(value, bool)
    }
    return typed if sum(len(str(value)) for value in typed.values()) <= MOST_CHARACTERS else {}
