"""Cuts clips in a process of its own, so that a minute of encoding never delays a key press.

Everything here runs on the event loop except the cutting itself. A clip somebody waits for goes before clips
that are only likely to be wanted; a clip asked for twice is cut once; a cutter that dies is replaced.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from backend.ground import processes
from backend.ground.errors import VideoUnreadable


class Job(Protocol):
    """What to cut; pickled to the worker. `path` is the finished file and identifies the job."""

    @property
    def path(self) -> Path:
        """Where the clip is, or will be."""


J = TypeVar("J", bound=Job)


def _settle_in(_cut: object) -> None:
    """Runs in the worker when it starts; receiving `_cut` has imported what cutting needs."""
    if hasattr(os, "nice"):
        os.nice(5)  # people grading go first where cores are few


def _nothing() -> None:
    """The first task: submitting it starts the process."""


class ClipWorker(Generic[J]):
    """A queue in front of a small process pool.

    `cut` is a module-level function `job -> path` that raises `VideoUnreadable` for a clip that cannot be made.
    """

    def __init__(self, cut: Callable[[J], Path], workers: int = 1) -> None:
        self._cut = cut
        self._workers = workers
        self._pool: Executor | None = None
        self._asked: dict[Path, asyncio.Future[Path]] = {}
        self._urgent: deque[J] = deque()
        self._later: deque[J] = deque()
        self._running: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Starts the first process now, so that the first clip does not wait for imports."""
        self._pool = self._new_pool()
        self._pool.submit(_nothing)

    def stop(self) -> None:
        """Drops what is queued; a clip being cut is finished in the background."""
        for task in self._running:
            task.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    @property
    def queued(self) -> tuple[int, int]:
        """How many clips wait that somebody waits for, and how many others; those being cut do not count."""
        return len(self._urgent), len(self._later)

    def ask(self, job: J, *, urgent: bool) -> asyncio.Future[Path]:
        """A future of the finished clip, shared by everybody who asks for it; do not cancel it.

        Raises (from the future):
            VideoUnreadable: the clip cannot be made; the text is written for the lead.
        """
        future = self._asked.get(job.path)
        if future is None:
            future = asyncio.get_running_loop().create_future()
            future.add_done_callback(_seen)
            self._asked[job.path] = future
            (self._urgent if urgent else self._later).append(job)
            self._pump()
        elif urgent and job in self._later:
            self._later.remove(job)
            self._urgent.append(job)
        return future

    def _pump(self) -> None:
        # The pool's own queue is first in, first out; handing it one job a process keeps the order ours.
        while len(self._running) < self._workers and (self._urgent or self._later):
            job = (self._urgent or self._later).popleft()
            task = asyncio.get_running_loop().create_task(self._run(job))
            self._running.add(task)
            task.add_done_callback(self._ran)

    def _ran(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            self._pump()

    async def _run(self, job: J) -> None:
        future = self._asked[job.path]
        try:
            path = await self._cut_in_pool(job)
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(path)
        finally:
            del self._asked[job.path]
            future.cancel()  # without effect unless the server is stopping

    async def _cut_in_pool(self, job: J) -> Path:
        for _ in range(2):
            if self._pool is None:
                self._pool = self._new_pool()
            pool = self._pool
            try:
                return await asyncio.get_running_loop().run_in_executor(pool, self._cut, job)
            except BrokenProcessPool:
                pool.shutdown(wait=False)
                if self._pool is pool:
                    self._pool = None
        raise VideoUnreadable(f"The clip cutter stopped twice at {job.path.name}: the video may be damaged.")

    def _new_pool(self) -> Executor:
        return processes.pool(self._workers, _settle_in, (self._cut,))


def _seen(future: asyncio.Future[Path]) -> None:
    """Nobody may be waiting for a clip cut ahead; its failure is reported by whoever asked for it."""
    if not future.cancelled():
        future.exception()
