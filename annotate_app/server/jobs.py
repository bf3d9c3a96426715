"""Run background jobs, each in its own process that continues when every page is closed.

The database stores the progress and outcome of each job. So every server process of the project can show a job, whoever
started it: see `backend.campaign.setup.serving.jobs`.
"""

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path

from annotate_app.language import marked, tr
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.jobs import begin_job, end_job, job_lock, list_jobs, run_job
from backend.campaign.setup.serving.model import JobKind, JobOutcome, JobState
from backend.core import processes
from backend.core.errors import StoreUnavailable

_LOG = logging.getLogger(__name__)
PAGES = {
    JobKind.SET_UP: "Set up",
    JobKind.RELEASE: "Release",
    JobKind.INTERVALS: "Agreement",
    JobKind.COMPARISON: "Agreement",
    JobKind.CLIPS: "Progress",
}
"""The title of the page that shows the jobs of each kind."""
_STATES = {
    JobState.UNDER_WAY: marked("under way", _context="work"),
    JobState.DONE: marked("done", _context="work"),
    JobState.REFUSED: marked("refused", _context="work"),
    JobState.FAILED: marked("failed", _context="work"),
    JobState.INTERRUPTED: marked("interrupted", _context="work"),
    JobState.CANCELLED: marked("cancelled", _context="work"),
}
"""Word for each job state in the menu."""
_USUAL_NICENESS = 10
"""Niceness of job processes: annotators' requests go first where cores are few."""
_NICENESS = {JobKind.INTERVALS: 19, JobKind.COMPARISON: 19}
"""Jobs that only get idle processor time: on two cores, a lower niceness slows down everybody who grades."""

JobFunction = Callable[..., object]
"""A module-level function, called in the worker as `function(project, lead, *arguments, progress=...)`."""


def begin(
    project: Project,
    lead: Person,
    kind: JobKind,
    subject: str,
    title: str,
    function: JobFunction,
    *arguments: object,
    asked: dict[str, str] | None = None,
    now: float,
) -> Future[None] | None:
    """Start a background job and return at once.

    Args:
        project: the project.
        lead: the lead who starts the job; the functions that the job calls check the permission, too.
        kind: the kind of job.
        subject: distinguishes jobs of one kind, such as the step of the project's setup.
        title: the title on pages, such as `Importing moments.jsonl`; a message made by `said`.
        function: the module-level function that the job runs; see `JobFunction`.
        arguments: further arguments of the function, pickled for the other process.
        asked: values that the job's page needs to know afterwards, stored with the job.
        now: seconds since 1970.

    Returns:
        A future that is done when the process has ended. None if the same job already runs and changes nothing in the
        project, so it is not started twice.

    Raises:
        ProjectError: another job that changes the project is running, in any server process.
    """
    key = begin_job(project, lead, kind, subject, title, asked or {}, now=now)
    if key is None:
        return None
    lock = ExitStack()
    lock.enter_context(job_lock(project, key))
    niceness = _NICENESS.get(kind, _USUAL_NICENESS)
    future = processes.alone(run, project.folder, lead, key, function, arguments, niceness=niceness)
    future.add_done_callback(lambda ended: _note_failure(project, key, title, ended))
    future.add_done_callback(lambda _: lock.close())
    return future


def in_menu(project: Project, lead: Person) -> dict[str, str]:
    """Return notes for the menu by page title: a running job's progress, or how a job ended that did not complete."""
    notes: dict[str, str] = {}
    newest = {job.kind: job for job in reversed(list_jobs(project, lead, now=time.time()))}
    for job in sorted(newest.values(), key=lambda job: job.is_running):  # a running job comes last, so its note wins
        if job.is_running:
            notes[PAGES[job.kind]] = f"{100 * job.done // job.total} %" if job.total else tr("working")
        elif job.state is not JobState.DONE:
            notes[PAGES[job.kind]] = tr(_STATES[job.state], _context="work")
    return notes


def run(folder: Path, lead: Person, key: str, function: JobFunction, arguments: tuple[object, ...]) -> None:
    """Run a job in its worker process, with its own database connection.

    Args:
        folder: the project's folder.
        lead: the lead who started the job.
        key: identifies the job in the database, where its outcome is stored.
        function: the function that the job runs.
        arguments: further arguments of the function.
    """
    project = open_project(folder)
    try:
        run_job(project, key, lambda progress: function(project, lead, *arguments, progress=progress))
    finally:
        project.store.close()


def _note_failure(project: Project, key: str, title: str, future: Future[None]) -> None:
    """Store the outcome "failed" or "interrupted" of a job whose process ended with an error."""
    if error := future.exception():
        state = JobState.FAILED
        if processes.is_ending():
            _LOG.warning("%s is interrupted: the server stops", title)
            state = JobState.INTERRUPTED
        else:
            _LOG.error("%s failed", title, exc_info=error)
        try:
            end_job(project, key, state, JobOutcome(), now=time.time())
        except StoreUnavailable:
            _LOG.exception("that %s failed cannot be noted", title)
        finally:
            project.store.close()
