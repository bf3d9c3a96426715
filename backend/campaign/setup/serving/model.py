"""Failed sign-ins, jobs and drafts as values."""

from dataclasses import dataclass
from enum import StrEnum

import msgspec

Typed = str | int | float | frozenset[str]
"""What somebody typed or chose, by the name of its field."""


@dataclass(frozen=True, slots=True)
class Failures:
    """Failed attempts to sign in: how many, and when the last one was, in seconds since 1970."""

    failures: int
    last_at: float


@dataclass(frozen=True, slots=True)
class Delay:
    """How an attempt to sign in is slowed down: refused for whole seconds, or else held back before it is checked."""

    refused_s: int = 0
    held_s: float = 0.0


class WorkState(StrEnum):
    """How a job stands."""

    UNDER_WAY = "under way"
    DONE = "done"
    REFUSED = "refused"
    """It cannot be done; the text says why."""
    FAILED = "failed"
    """By a mistake of ours, or because its process was killed; the server's log says more."""
    CUT_SHORT = "cut short"
    """Nothing was heard of it for a while: its server stopped in the middle of it. Derived, never stored."""


class OutcomeTable(msgspec.Struct, frozen=True):
    """A table of an outcome; its cells are plain text."""

    head: list[str]
    rows: list[list[str]]


class WorkOutcome(msgspec.Struct, frozen=True):
    """What came out: sentences and tables, as plain text."""

    sentences: list[str] = []
    tables: list[OutcomeTable] = []


class LongWork(msgspec.Struct, frozen=True):
    """A job that takes longer than a request: `done` of `total` steps of `what`; `total` is 0 until it is known.

    `step` is the step of the project's setup that it belongs to, and `asked` what that step needs to know afterwards.
    """

    step: str
    title: str
    by: str
    began_at: float
    state: WorkState = WorkState.UNDER_WAY
    what: str = ""
    done: int = 0
    total: int = 0
    refusal: str = ""
    outcome: WorkOutcome = WorkOutcome()
    asked: dict[str, str] = {}
