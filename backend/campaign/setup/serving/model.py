"""Data types for failed sign-ins, jobs and drafts."""

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
    """The delay of an attempt to sign in: refused for `refused_s`, or held back for `held_s` before it is checked."""

    refused_s: int = 0
    held_s: float = 0.0


class JobKind(StrEnum):
    """The kinds of jobs."""

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
        """Return whether such jobs change the project. Those run one at a time; read-only jobs run beside them."""
        return self in (JobKind.SET_UP, JobKind.RELEASE)


class JobState(StrEnum):
    """The state of a job."""

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
    """A table of an outcome; its cells are plain text."""

    head: list[str]
    rows: list[list[str]]


class JobOutcome(msgspec.Struct, frozen=True):
    """The outcome of a job: sentences and tables, as plain text."""

    sentences: list[str] = []
    tables: list[OutcomeTable] = []


class JobCancelled(BaseException):
    """Raised in a job that a lead has cancelled, when the job next reports a step.

    Like Ctrl-C, it is not caught by `except Exception`.
    """


@dataclass(frozen=True, slots=True)
class OutcomeWithResult:
    """An outcome in words, and a result for `job_result`.

    The result is stored apart, because it is too large to read whenever somebody looks at the job.
    """

    outcome: JobOutcome
    result: object


class Job(msgspec.Struct, frozen=True):
    """A job that takes longer than a request.

    `what` names the work that it is doing, of which `done` of `total` steps are done. `total` is 0 until it is known.
    `subject` tells jobs of one kind apart. `asked` has the options of the job, which its page needs afterwards.
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
