"""Data types for failed sign-ins, background jobs, and drafts (what people typed before their session ended)."""

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from backend.core.messages import said

A_COMMAND = said("a command")
"""Shown as the starter of a job that a command started."""
Typed = str | int | float | frozenset[str]
"""A value that a person typed or chose in a field."""


@dataclass(frozen=True, slots=True)
class Failures:
    """Failed attempts to sign in: their number, and the time of the last one in seconds since 1970."""

    failures: int
    last_at: float


@dataclass(frozen=True, slots=True)
class Delay:
    """How an attempt to sign in is delayed after failed attempts, in seconds.

    If `refused_s` is above 0, the attempt is refused, and the next one is possible after that time. Otherwise the
    password is checked after `held_s`.
    """

    refused_s: int = 0
    held_s: float = 0.0


class JobKind(StrEnum):
    """The kinds of background jobs, such as making a release or cutting clips."""

    SET_UP = "set up"
    """A step of the page Set up, which its `subject` names."""
    RELEASE = "release"
    INTERVALS = "intervals"
    """Agreement intervals; `subject` names the pairs and the state of the grades."""
    COMPARISON = "comparison"
    """Comparison of the consensus rule with other aggregators, or of a model with people; `subject` is the model."""
    CLIPS = "clips"
    """Cutting the clips of batches."""

    @property
    def changes_project(self) -> bool:
        """Return whether jobs of this kind change the project. Such jobs run one at a time."""
        return self in (JobKind.SET_UP, JobKind.RELEASE)


class JobState(StrEnum):
    """The state of a background job: running, or how it ended."""

    UNDER_WAY = "under way"
    DONE = "done"
    REFUSED = "refused"
    """The job cannot be done; `refusal` says why."""
    FAILED = "failed"
    """The job failed because of a bug, or its process was killed; the server's log says more."""
    INTERRUPTED = "interrupted"
    """The process of the job stopped, or has not reported for a while."""
    CANCELLED = "cancelled"
    """A lead cancelled the job; nothing that it did was kept."""


class OutcomeTable(msgspec.Struct, frozen=True):
    """A table in the result of a background job, with its headings and rows as plain text."""

    head: list[str]
    rows: list[list[str]]


class JobOutcome(msgspec.Struct, frozen=True):
    """The result of a background job as people read it: sentences and tables in plain text."""

    sentences: list[str] = []
    tables: list[OutcomeTable] = []


class JobCancelled(BaseException):
    """Raised in a job that a lead has cancelled, when the job next reports a step.

    Like Ctrl-C, it is not caught by `except Exception`.
    """


@dataclass(frozen=True, slots=True)
class OutcomeWithResult:
    """The result of a background job, both as people read it (`outcome`) and as data (`result`).

    The data is stored in a file of its own, because it is too large to read whenever somebody looks at the job.
    `job_result` returns it.
    """

    outcome: JobOutcome
    result: object


class Job(msgspec.Struct, frozen=True):
    """A background job: work that takes longer than a request.

    `what` names the current work, and `done` of its `total` steps are done; `total` is 0 until it is known. `subject`
    tells jobs of one kind apart. `refusal` says why the job could not be done. `began_at` is in seconds since 1970.
    `asked` has the options of the job, for the page that shows its result.
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
    """True if a lead asked the job to stop."""

    @property
    def is_running(self) -> bool:
        """Return whether the job still runs."""
        return self.state is JobState.UNDER_WAY
