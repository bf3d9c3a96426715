"""How often a password may be tried, when work counts as cut short, what of a page is kept as a draft. Pure."""

import hashlib
import math
from collections.abc import Mapping, Sequence

import msgspec

from backend.campaign.serving.model import LongWork, Typed, WorkState
from backend.ground.person_names import name_key

ATTEMPTS_COUNT_S = 300.0
"""For how long an attempt to sign in counts."""
MOST_ATTEMPTS = {"name": 8, "address": 40}
"""In that time, by what they are counted by."""
UNHEARD_S = 60.0
"""Longer than this nothing that lives is silent: a process says every five seconds that it is there, and one whose
database is locked gives up after 30."""
DRAFT_S = 3600.0
MOST_CHARACTERS = 20_000


def counted_as(name: str, address: str) -> dict[str, str]:
    """What an attempt is counted by: whose name was typed, however it is spelled, and where it came from, as digests.

    >>> [len(who) for who in counted_as("Ana", "10.0.0.1").values()]
    [64, 64]
    >>> counted_as(" Ana ", "10.0.0.1") == counted_as("ANA", "10.0.0.1")
    True
    """
    told = {"name": name_key(name), "address": address}
    return {kind: hashlib.sha256(f"{kind}:{text}".encode()).hexdigest() for kind, text in told.items()}


def wait_s(attempts: Mapping[str, Sequence[float]], *, now: float) -> int:
    """Whole seconds until another attempt is let through; 0 for now.

    Args:
        attempts: when those were that count, the oldest first, by what they are counted by.
        now: seconds since 1970.

    >>> wait_s({"name": [0.0, 1.0], "address": [0.0]}, now=2.0)
    0
    >>> wait_s({"name": [2.0] * 8, "address": [1.0] * 40}, now=3.5)
    299
    """
    full = [times[0] for kind, times in attempts.items() if len(times) >= MOST_ATTEMPTS[kind]]
    return math.ceil(max(full) + ATTEMPTS_COUNT_S - now) if full else 0


def as_it_stands(work: LongWork, *, heard_at: float, now: float) -> LongWork:
    """Work of which nothing was heard for too long was cut short."""
    if work.state is WorkState.UNDER_WAY and now - heard_at > UNHEARD_S:
        return msgspec.structs.replace(work, state=WorkState.CUT_SHORT)
    return work


def worth_keeping(values: Mapping[str, object]) -> dict[str, Typed]:
    """Texts, numbers and frozen sets; not buttons, files and what else a page's session holds. All, or nothing.

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
