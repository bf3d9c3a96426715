"""Rules for sign-in delays, background jobs, and drafts (what people typed before their session ended).

All functions are pure.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence

import msgspec

from backend.campaign.setup.serving.model import Delay, Failures, Job, JobKind, JobState, Typed
from backend.core.days import lasts
from backend.core.typed_text import name_key

FORGOTTEN_S = 3600.0
"""Failures are forgotten after this many seconds without an attempt."""
FREE_FAILURES = {"pair": 3, "browser": 3, "name": 10, "address": 30}
"""The number of failures that cause no delay, by kind of counter."""
MOST_DELAY_S = {"pair": 300, "browser": 300, "name": 10, "address": 10}
UNHEARD_S = 60.0
"""A job that was silent for more seconds counts as interrupted.

A live process reports every five seconds, and one whose database is locked gives up after 30.
"""
QUIET_S = 6.0
"""After this many seconds of silence the lock file of a job is checked. A running job reports every five seconds."""
KEPT = {JobKind.INTERVALS: 9}
"""The number of ended jobs of a kind that are kept, the newest ones; one of any other kind."""
DRAFT_S = 3600.0
MOST_CHARACTERS = 20_000


def sign_in_counters(name: str, address: str, browser: str | None = None) -> dict[str, str]:
    """Return the counters of failed sign-ins to which an attempt belongs, as a mapping from kind to hash.

    The kinds are `name`, `address`, and `pair` (name and address together); or only `browser` if that is known.

    Args:
        name: the name that was typed; case and outer spaces do not matter.
        address: the network address of the attempt.
        browser: the cookie of a browser on which this person signed in before. Attempts from it have a counter of their
            own, so that failures of others do not delay them.

    >>> sorted(sign_in_counters("Ana", "10.0.0.1")), sorted(sign_in_counters("Ana", "10.0.0.1", "a cookie"))
    (['address', 'name', 'pair'], ['browser'])
    >>> sign_in_counters(" Ana ", "10.0.0.1") == sign_in_counters("ANA", "10.0.0.1")
    True
    """
    name = name_key(name)
    by = {"browser": f"{browser}:{name}"}
    if browser is None:
        by = {"pair": f"{address}:{name}", "name": name, "address": address}
    return {kind: hashlib.sha256(f"{kind}:{text}".encode()).hexdigest() for kind, text in by.items()}


def delay_s(kind: str, failures: int) -> int:
    """Return how many seconds must pass after the last failed sign-in: none at first, then 1, 2, 4 and so on.

    `kind` says by what the failures were counted: `pair` (name and address together), `browser`, `name` or `address`.

    >>> [delay_s("pair", failures) for failures in (2, 3, 4, 11, 12, 1000)]
    [0, 1, 2, 256, 300, 300]
    """
    beyond = failures - FREE_FAILURES[kind]
    return 0 if beyond < 0 else min(2 ** min(beyond, 10), MOST_DELAY_S[kind])


def delay(failed: Mapping[str, Failures], *, now: float) -> Delay:
    """Return how an attempt to sign in is delayed because of earlier failures.

    After failures of the same person (same name and address, or a known browser) the attempt is refused, for up to five
    minutes. After failures of others (same name, or same address) it is only held back, for up to ten seconds. So
    nobody can lock anybody else out.

    Args:
        failed: earlier failures by kind of counter: `pair` (name and address together), `browser`, `name` or `address`.
        now: seconds since 1970.

    >>> delay({"pair": Failures(4, 10.0), "name": Failures(4, 10.0)}, now=10.5)
    Delay(refused_s=2, held_s=0.0)
    >>> delay({"name": Failures(500, 10.0), "address": Failures(31, 10.0)}, now=10.5)
    Delay(refused_s=0, held_s=9.5)
    """
    left = {
        kind: min(counter.last_at, now) + delay_s(kind, counter.failures) - now
        for kind, counter in failed.items()
        if lasts(counter.last_at, FORGOTTEN_S, now=now)
    }
    refused = max((left[kind] for kind in ("pair", "browser") if kind in left), default=0.0)
    held_back = max((left[kind] for kind in ("name", "address") if kind in left), default=0.0)
    return Delay(math.ceil(max(refused, 0.0)), max(held_back, 0.0))


def current_job(job: Job, *, heard_at: float, lock_is_free: bool | None, now: float) -> Job:
    """Return a job with its current state: interrupted if its process has ended or has not reported for too long.

    Args:
        job: the job as it was last reported.
        heard_at: the time of its last report, in seconds since 1970.
        lock_is_free: True if no process holds the lock file of the job, False if one does; None where this machine has
            no such file.
        now: seconds since 1970.
    """
    silent_s = UNHEARD_S if lock_is_free is None else QUIET_S if lock_is_free else math.inf
    if job.is_running and not lasts(heard_at, silent_s, now=now):
        return msgspec.structs.replace(job, state=JobState.INTERRUPTED)
    return job


def outdated_jobs(jobs: Sequence[Job], kind: JobKind) -> list[Job]:
    """Return the ended jobs of a kind to delete when a new job of this kind starts.

    `KEPT` says how many jobs of each kind are kept; of a kind that it does not list, one is kept. The new job counts as
    one of them. The others are the newest ended jobs.

    Args:
        jobs: all jobs of the project, the newest first.
        kind: the kind of the new job.
    """
    ended = [job for job in jobs if job.kind is kind and not job.is_running]
    return ended[KEPT.get(kind, 1) - 1 :]


def draft_values(values: Mapping[str, object]) -> dict[str, Typed]:
    """Return the values of a form to keep as a draft: texts, numbers and frozen sets, but no buttons or files.

    If the values have more than 20,000 characters together, the result is empty.

    >>> draft_values({"reason": "wrote it", "button": True, "file": object()})
    {'reason': 'wrote it'}
    >>> draft_values({"reason": "x" * 20_001})
    {}
    """
    typed: dict[str, Typed] = {
        key: value
        for key, value in values.items()
        if isinstance(value, str | int | float | frozenset) and not isinstance(value, bool)
    }
    return typed if sum(len(str(value)) for value in typed.values()) <= MOST_CHARACTERS else {}
