"""Background jobs: one at a time, in a process of its own that goes on when every page is closed.

How far a job is and how it ended stands in the database, so that every page of every front end can show it, whoever
began it. Each job is all or nothing there: one that is interrupted leaves nothing half-done.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from pathlib import Path

from annotate_app.language import marked, tr
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.jobs import begin_work, end_work, look_at_work, running, tell_work
from backend.campaign.setup.serving.model import WorkOutcome, WorkState
from backend.core import processes
from backend.core.errors import ReelRankError, StoreUnavailable

_LOG = logging.getLogger(__name__)
RELEASE = "release"
"""The job that makes a release; all others are steps of the page Set up."""
_STATES = {
    WorkState.UNDER_WAY: marked("under way", _context="work"),
    WorkState.DONE: marked("done", _context="work"),
    WorkState.REFUSED: marked("refused", _context="work"),
    WorkState.FAILED: marked("failed", _context="work"),
    WorkState.CUT_SHORT: marked("interrupted", _context="work"),
}
"""What the menu says of a job that is over."""
_EVERY_S = 0.5
"""How often the worker tells how far it has come, if it has come any further."""
_HERE_S = 5.0
"""How often it tells that it is still there."""
_NICE = 10
"""People who grade go first where cores are few."""

Act = Callable[..., WorkOutcome]
"""A function of a module, called in the worker with a project, who asked, its arguments, and `progress`."""


def begin(
    project: Project,
    lead: Person,
    step: str,
    title: str,
    act: Act,
    *arguments: object,
    asked: dict[str, str] | None = None,
    now: float,
) -> Future[None]:
    """Begin an act and return at once.

    Args:
        project: the project.
        lead: who asks; the verbs that the job calls check them, too.
        step: whose act it is.
        title: what people read, made by `said`: `Importing moments.jsonl`.
        act: see `Act`.
        arguments: of the act; they are sent to the other process.
        asked: kept with the act.
        now: seconds since 1970.

    Returns:
        What tells when its process has ended.

    Raises:
        ProjectError: something else is under way, at whichever front end.
    """
    key = begin_work(project, lead, step, title, asked or {}, now=now)
    held = ExitStack()
    held.enter_context(running(project, key))
    future = processes.alone(run, project.folder, lead, key, act, arguments)
    future.add_done_callback(lambda over: _over(project, key, title, over))
    future.add_done_callback(lambda _: held.close())
    return future


def in_menu(project: Project, lead: Person) -> dict[str, str]:
    """Return what the menu says behind the page that began the job, by title; nothing where all is well and done."""
    work = look_at_work(project, lead, now=time.time())
    if work is None or work.state is WorkState.DONE:
        return {}
    page = "Release" if work.step == RELEASE else "Set up"
    if work.state is WorkState.UNDER_WAY:
        return {page: f"{100 * work.done // work.total} %" if work.total else tr("working")}
    return {page: tr(_STATES[work.state], _context="work")}


def run(folder: Path, lead: Person, key: str, act: Act, arguments: tuple[object, ...]) -> None:
    """Runs in the worker, with a connection of its own; a refusal is an outcome like any other."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    project = open_project(folder)
    state, outcome, refusal = WorkState.DONE, WorkOutcome(), ""
    try:
        with _Telling(project, key) as telling:
            outcome = act(project, lead, *arguments, progress=telling.progress)
    except ReelRankError as error:
        state, refusal = WorkState.REFUSED, str(error)
    try:
        end_work(project, key, state, outcome, refusal, now=time.time())
    finally:
        project.store.close()


class _Telling:
    """Tells of an act while it lasts: in a thread, because the act may be in the middle of its one transaction."""

    def __init__(self, project: Project, key: str) -> None:
        self._project, self._key = project, key
        self._latest = ("", 0, 0)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._tell, daemon=True)

    def __enter__(self) -> "_Telling":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def progress(self, what: str, done: int, total: int) -> None:
        """What the act is given as its `progress`."""
        self._latest = (what, done, total)

    def _tell(self) -> None:
        told, at = self._latest, time.monotonic()
        while not self._over.wait(_EVERY_S):
            latest = self._latest
            if latest == told and time.monotonic() - at < _HERE_S:
                continue
            with suppress(StoreUnavailable):  # a full disk, or a long lock, is for the act itself to tell
                tell_work(self._project, self._key, *latest, now=time.time())
                told, at = latest, time.monotonic()
        self._project.store.close()


def _over(project: Project, key: str, title: str, future: Future[None]) -> None:
    """The process has ended; what it could not tell itself is told for it."""
    if error := future.exception():
        if processes.is_ending():
            _LOG.warning("%s is interrupted: the server stops", title)  # as every page finds by itself
            return
        _LOG.error("%s failed", title, exc_info=error)
        try:
            end_work(project, key, WorkState.FAILED, WorkOutcome(), now=time.time())
        except StoreUnavailable:
            _LOG.exception("that %s failed cannot be told", title)
        finally:
            project.store.close()
