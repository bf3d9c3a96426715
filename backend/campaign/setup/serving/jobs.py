"""Record the background jobs of a project, so that every server process shows them and a lead can cancel them.

A job takes longer than a request. The process that starts it runs it in a separate process, which holds a lock file
meanwhile. If the job's process is killed, the system frees the lock, so other processes learn of it in seconds. A job
changes the database in one transaction: if it is interrupted or cancelled, nothing is changed. Only one job at a time
may change the project. Jobs that only read may run at the same time, but the same job never runs twice at once.

*Reads* and *writes* job, and files of jobs in the project's cache folder.
"""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from backend import __version__
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.people.permissions import in_charge, lead_only, public
from backend.campaign.setup.project.folder import CACHE_FOLDER, Project
from backend.campaign.setup.serving import rows, rules
from backend.campaign.setup.serving.model import (
    Job,
    JobCancelled,
    JobKind,
    JobOutcome,
    JobState,
    OutcomeWithResult,
)
from backend.core.days import lasts
from backend.core.errors import ProjectError, ReelRankError, StoreUnavailable
from backend.core.file_system import make_private_folder
from backend.core.locking import is_free, locked
from backend.core.messages import from_stored, said, to_stored
from backend.core.progress import Progress
from backend.store.connection import Database, reading, writing
from backend.store.files import atomic_file

REPORT_EVERY_S = 0.5
"""The interval at which a process reports progress, if there is any, in seconds."""
ALIVE_EVERY_S = 5.0
"""The interval at which a process reports that it still runs, in seconds."""
Work = Callable[[Progress], object]
"""The work of a job. It returns a `JobOutcome`, or a result that is kept for `job_result`, or both."""
Result = TypeVar("Result")


@in_charge
def begin_job(
    project: Project,
    by: Lead | Operator,
    kind: JobKind,
    subject: str,
    title: str,
    asked: Mapping[str, str],
    *,
    now: float,
) -> str | None:
    """Record that a background job starts, and delete older jobs of its kind; see `rules.outdated_jobs`.

    Args:
        project: the project.
        by: the lead or operator who starts it.
        kind: the kind of job.
        subject: tells jobs of one kind apart, such as the step of the project's setup.
        title: the title that people read, such as `Importing moments.jsonl`.
        asked: the options of the job, stored with it for the page that shows its result.
        now: seconds since 1970.

    Returns:
        The key of the job, for `run_job`; None if the same read-only job already runs.

    Raises:
        ProjectError: another job that changes the project is running, started from any server process.
    """
    job = Job(secrets.token_urlsafe(12), kind, subject, title, "", now, asked=dict(asked))
    files = list((project.folder / CACHE_FOLDER).glob("job-*"))  # listed first: files of later jobs stay
    with writing(project.store) as db:
        jobs = _current_jobs(project, db, now)
        for other in jobs:
            if other.is_running and kind.changes_project and other.kind.changes_project:
                raise ProjectError(
                    said(
                        "{by} started “{title}”, which is still running: wait until it is done, or cancel it, "
                        "then try again",
                        title=other.title,
                        by=other.by,
                    )
                )
            if other.is_running and (other.kind, other.subject) == (kind, subject):
                return None
            if other.state is JobState.INTERRUPTED:  # stored: the database allows one such job under way
                rows.end_job(db, other.key, other.state, other.outcome, "", at=now)
        outdated = {other.key for other in rules.outdated_jobs(jobs, kind)}
        rows.remove_jobs(db, outdated)
        rows.begin_job(db, job, by.annotator_id)
    kept_keys = {other.key for other in jobs} - outdated
    for file in files:
        if file.stem.removeprefix("job-") not in kept_keys:
            file.unlink(missing_ok=True)
    return job.key


@lead_only
def list_jobs(project: Project, lead: Lead, *, now: float) -> list[Job]:
    """Return all jobs that were not dismissed, newest first, whichever server process runs them."""
    return _current_jobs(project, project.store.db, now)


@lead_only
def dismiss_job(project: Project, lead: Lead, key: str, *, now: float) -> None:
    """Delete a job that has ended, so that no page shows it. A running job stays."""
    with writing(project.store) as db:
        ended = [job.key for job in _current_jobs(project, db, now) if not job.is_running]
        rows.remove_jobs(db, {key} & {*ended})


@lead_only
def cancel_job(project: Project, lead: Lead, key: str) -> None:
    """Ask a running job to stop: it ends when it next reports progress, and its changes are undone.

    A job that is in its last step may still finish.

    Raises:
        ProjectError: the job has ended already.
    """
    with writing(project.store) as db:
        if not rows.cancel_job(db, key, lead.annotator_id):
            raise ProjectError(said("This job has ended already. Reload the page."))


@lead_only
def job_result(project: Project, lead: Lead, key: str, kind: type[Result]) -> Result | None:
    """Return the result that a job stored, converted to the type `kind`.

    The result is None if its file is missing, or was written by another version of ReelRank.
    """
    with suppress(FileNotFoundError):
        release, result = msgspec.json.decode(_file(project, key, "json").read_bytes())
        if release == __version__:
            return msgspec.convert(_with_messages(result), kind)
    return None


@public
@contextmanager
def job_lock(project: Project, key: str) -> Iterator[None]:
    """Hold the lock file of a job for the `with` block, after waiting until no other process holds it.

    The process that runs a job holds its lock file, so that others notice when it ends.
    """
    file = _file(project, key, "lock")
    make_private_folder(file.parent)
    with locked(file):
        yield


@public
def run_job(project: Project, key: str, work: Work) -> ReelRankError | None:
    """Run the function of a job, and record its progress and how it ended.

    Returns:
        The `ReelRankError` that stopped the job; the page of the job shows its message. None if the job succeeded or
        was cancelled. An error of any other class is raised.

    Raises:
        StoreUnavailable: the end of the job cannot be recorded.
    """
    try:
        with reporting(project, key) as progress:
            outcome = work(progress)
        if not isinstance(outcome, JobOutcome):
            both = outcome if isinstance(outcome, OutcomeWithResult) else OutcomeWithResult(JobOutcome(), outcome)
            with atomic_file(_file(project, key, "json")) as part:
                part.write_bytes(msgspec.json.encode((__version__, both.result), enc_hook=to_stored))
            outcome = both.outcome
    except ReelRankError as refusal:
        end_job(project, key, JobState.REFUSED, JobOutcome(), str(refusal), now=time.time())
        return refusal
    except JobCancelled:
        end_job(project, key, JobState.CANCELLED, JobOutcome(), now=time.time())
        return None
    except BaseException as error:
        state = JobState.INTERRUPTED if isinstance(error, KeyboardInterrupt) else JobState.FAILED
        with suppress(StoreUnavailable):
            end_job(project, key, state, JobOutcome(), now=time.time())
        raise
    end_job(project, key, JobState.DONE, outcome, now=time.time())
    return None


@public
@contextmanager
def reporting(project: Project, key: str) -> Iterator[Progress]:
    """Yield a function with which a job reports its progress; a separate thread stores what it reports.

    The job cannot store its progress itself, because all its changes are in one transaction that is committed at the
    end. The yielded function raises `JobCancelled` once a lead has cancelled the job.
    """
    latest, over, cancelled = ("", 0, 0), threading.Event(), threading.Event()

    def progress(what: str, done: int, total: int) -> None:
        nonlocal latest
        latest = (what, done, total)
        if cancelled.is_set():
            raise JobCancelled

    def report() -> None:
        reported, at = latest, time.monotonic()
        while not over.wait(REPORT_EVERY_S):
            with suppress(StoreUnavailable), reading(project.store) as db:
                if rows.is_cancelled(db, key):
                    cancelled.set()
            current = latest
            if current == reported and time.monotonic() - at < ALIVE_EVERY_S:
                continue
            with suppress(StoreUnavailable):  # the job itself reports a full disk or a long lock
                report_progress(project, key, *current, now=time.time())
                reported, at = current, time.monotonic()
        project.store.close()

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()


@public
def report_progress(project: Project, key: str, what: str, done: int, total: int, *, now: float) -> None:
    """Record the progress of a job: the name of its current step, and how many of `total` steps are done.

    Each report also shows that the job still runs. A job without a lock file on this machine counts as interrupted
    after 60 s without a report.
    """
    with writing(project.store) as db:
        rows.report_progress(db, key, what, done, total, at=now)


@public
def end_job(project: Project, key: str, state: JobState, outcome: JobOutcome, refusal: str = "", *, now: float) -> None:
    """Record how a job ended, even if it was already counted as interrupted.

    `outcome` is the result in words. `refusal` is the message of the error that stopped the job, if any.
    """
    with writing(project.store) as db:
        rows.end_job(db, key, state, outcome, refusal, at=now)


def _file(project: Project, key: str, extension: str) -> Path:
    return project.folder / CACHE_FOLDER / f"job-{key}.{extension}"


def _current_jobs(project: Project, db: Database, now: float) -> list[Job]:
    jobs = []
    for job, heard_at in rows.jobs(db):
        quiet = job.is_running and not lasts(heard_at, rules.QUIET_S, now=now)
        free = is_free(_file(project, job.key, "lock")) if quiet else None
        jobs.append(rules.current_job(job, heard_at=heard_at, lock_is_free=free, now=now))
    return jobs


def _with_messages(value: Any) -> Any:
    """Return a value read from JSON, with each text in it turned back into a translatable message."""
    if isinstance(value, str):
        return from_stored(value)
    if isinstance(value, list):
        return [_with_messages(item) for item in value]
    return {key: _with_messages(item) for key, item in value.items()} if isinstance(value, dict) else value
