"""Failed sign-ins, jobs and drafts as values."""

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from backend.core.messages import said

A_COMMAND = said("a command")
"""Shown as the starter of a job that a command started."""
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


class JobKind(StrEnum):
    """Kinds of jobs."""

    SET_UP = "set up"
    """A step of the page Set up, which its `subject` names."""
    RELEASE = "release"
    INTERVALS = "intervals"
    """Agreement intervals; `subject` names the pairs and the state of the grades."""
    COMPARISON = "comparison"
    """Comparison of the consensus rule with other aggregators."""
    CLIPS = "clips"
    """Cutting the clips of batches."""

    @property
    def changes_project(self) -> bool:
        """Whether it changes the project. Such jobs run one at a time; read-only jobs run beside them."""
        return self in (JobKind.SET_UP, JobKind.RELEASE)


class JobState(StrEnum):
    """How a job stands."""

    UNDER_WAY = "under way"
    DONE = "done"
    REFUSED = "refused"
    """It cannot be done; the text says why."""
    FAILED = "failed"
    """By a mistake of ours, or because its process was killed; the server's log says more."""
    INTERRUPTED = "interrupted"
    """Its process stopped, or has not reported for a while."""
    CANCELLED = "cancelled"
    """A lead cancelled it; nothing that it did was kept."""


class OutcomeTable(msgspec.Struct, frozen=True):
    """A table of an outcome; its cells are plain text."""

    head: list[str]
    rows: list[list[str]]


class JobOutcome(msgspec.Struct, frozen=True):
    """What came out: sentences and tables, as plain text."""

    sentences: list[str] = []
    tables: list[OutcomeTable] = []


class JobCancelled(BaseException):
    """Ends a job that a lead cancelled, at a step it reports; like Ctrl-C, it passes every `except Exception`."""


@dataclass(frozen=True, slots=True)
class OutcomeWithResult:
    """An outcome in words, and a value for `job_result` that is too large to be read at every look at the job."""

    outcome: JobOutcome
    result: object


class Job(msgspec.Struct, frozen=True):
    """Work that takes longer than a request: `done` of `total` steps of `what`; `total` is 0 until it is known.

    `subject` says what of its kind it is, and `asked` is what its page needs to know afterwards.
    """

    key: str
    kind: JobKind
    subject: str
    title: str
    by: str
    """The name of a lead, or `A_COMMAND`."""
    began_at: float
    state: JobState = JobState.UNDER_WAY
    what: str = ""
    done: int = 0
    total: int = 0
    refusal: str = ""
    outcome: JobOutcome = JobOutcome()
    asked: dict[str, str] = {}
    is_cancelled: bool = False
    """Whether a lead asked it to stop."""

    @property
    def is_running(self) -> bool:
        """Whether it still runs."""
        return self.state is JobState.UNDER_WAY
