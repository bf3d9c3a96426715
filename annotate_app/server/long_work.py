"""Long work on a project: one act at a time in a process of its own, which goes on when every page is closed.

How far it has come and how it ended stands in a file of the project's cache, so that any page can show it, whoever
began it. Each act is all or nothing in the database, so that one which is cut short leaves nothing half-done.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from backend import api
from backend.campaign.nouns import Person
from backend.ground import processes
from backend.ground.errors import ProjectError, ReelRankError
from backend.ground.progress import Progress

_LOG = logging.getLogger(__name__)
_PAGE = "Set up"
_EVERY_S = 0.25
"""How often the worker tells how far it has come."""
_NICE = 10
"""People who grade go first where cores are few."""


class WorkState(StrEnum):
    """What is so with an act."""

    UNDER_WAY = "under way"
    DONE = "done"
    REFUSED = "refused"
    """What it was asked cannot be done; the text says why."""
    FAILED = "failed"
    """By a mistake of ours, or because its process was killed; the log of the server says more."""
    CUT_SHORT = "cut short"
    """The server stopped in the middle of it."""


class OutcomeTable(msgspec.Struct, frozen=True):
    """A table of an outcome; its cells are plain text."""

    head: list[str]
    rows: list[list[str]]


class WorkOutcome(msgspec.Struct, frozen=True):
    """What came out: sentences and tables, as plain text."""

    sentences: list[str] = []
    tables: list[OutcomeTable] = []


class LongWork(msgspec.Struct, frozen=True):
    """One act, as it stands: `done` of `total` steps of `what`; `total` is 0 as long as nobody has counted.

    `step` is whose act it is, and `asked` what that step needs to know of it afterwards.
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


Act = Callable[..., WorkOutcome]
"""A function of a module, called in the worker with a project, who asked, its arguments, and `progress`."""

_lock = threading.Lock()
_running: dict[Path, Future[None]] = {}
"""What this server has under way, by its file."""


def begin(
    project: api.Project,
    lead: Person,
    step: str,
    title: str,
    act: Act,
    *arguments: object,
    asked: dict[str, str] | None = None,
    now: float,
) -> None:
    """Begin an act and return at once.

    Args:
        project: the project.
        lead: who asks; the act itself asks the gate.
        step: whose act it is.
        title: what people read: `Importing moments.jsonl`.
        act: see `Act`.
        arguments: of the act; they are sent to the other process.
        asked: kept with the act.
        now: seconds since 1970.

    Raises:
        ProjectError: something else is under way, or the folder cannot be written.
    """
    file = project.work
    with _lock:
        going = look(project)
        if going is not None and going.state is WorkState.UNDER_WAY:
            raise ProjectError(
                f"{going.title} is under way, begun by {going.by}: wait until it is done, then try again"
            )
        work = LongWork(step, title, lead.name, now, asked=asked or {})
        try:
            file.parent.mkdir(exist_ok=True)
            _write(file, work)
        except OSError as error:
            raise ProjectError(f"{file} cannot be written: {error.strerror}. Make room, then try again.") from error
        future = processes.alone(run, project.folder, lead, work, act, arguments)
        _running[file] = future
    # Outside the lock: what is over already calls back in this very thread.
    future.add_done_callback(lambda over: _over(file, work, over))


def look(project: api.Project) -> LongWork | None:
    """The last act, as it stands; None if there was none, or somebody has put its outcome away."""
    file = project.work
    try:
        work = msgspec.json.decode(file.read_bytes(), type=LongWork)
    except (FileNotFoundError, msgspec.DecodeError):
        return None  # what another version wrote is of no use to anybody any more
    if work.state is WorkState.UNDER_WAY and file not in _running:
        return msgspec.structs.replace(work, state=WorkState.CUT_SHORT)
    return work


def in_menu(project: api.Project) -> dict[str, str]:
    """What the menu says behind the page that begins such acts, by title; nothing where all is well and done."""
    work = look(project)
    if work is None or work.state is WorkState.DONE:
        return {}
    if work.state is WorkState.UNDER_WAY:
        return {_PAGE: f"{100 * work.done // work.total} %" if work.total else "working"}
    return {_PAGE: str(work.state)}


def put_away(project: api.Project) -> None:
    """Show the last act no more; one that is under way stays."""
    work = look(project)
    if work is not None and work.state is not WorkState.UNDER_WAY:
        project.work.unlink(missing_ok=True)


def run(folder: Path, lead: Person, work: LongWork, act: Act, arguments: tuple[object, ...]) -> None:
    """Runs in the worker, with a connection of its own; a refusal is an outcome like any other."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    project = api.open_project(folder)
    file = project.work
    try:
        outcome = act(project, lead, *arguments, progress=_telling(file, work))
        ended = msgspec.structs.replace(work, state=WorkState.DONE, outcome=outcome)
    except ReelRankError as refusal:
        ended = msgspec.structs.replace(work, state=WorkState.REFUSED, refusal=str(refusal))
    finally:
        project.store.close()
    _write(file, ended)


def _telling(file: Path, work: LongWork) -> Progress:
    told_at, told_of = 0.0, ""

    def progress(what: str, done: int, total: int) -> None:
        nonlocal told_at, told_of
        at = time.monotonic()
        if what == told_of and done < total and at - told_at < _EVERY_S:
            return
        told_at, told_of = at, what
        with suppress(OSError):  # a full disk is for the act itself to tell
            _write(file, msgspec.structs.replace(work, what=what, done=done, total=total))

    return progress


def _over(file: Path, work: LongWork, future: Future[None]) -> None:
    """The process has ended; what it could not tell itself is told for it."""
    if error := future.exception():
        _LOG.error("%s failed", work.title, exc_info=error)
        try:
            _write(file, msgspec.structs.replace(work, state=WorkState.FAILED))
        except OSError:
            _LOG.exception("%s cannot be written", file)
    with _lock:
        _running.pop(file, None)


def _write(file: Path, work: LongWork) -> None:
    """Whole or not at all: a page may read it at this moment."""
    part = file.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(work))
    part.replace(file)
