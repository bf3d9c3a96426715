"""Cut clips, the videos of single moments, in a separate process, so that cutting never delays the saving of a grade.

Cutting a clip may take a minute. Everything here except the cutting runs on the event loop. `ClipQueue` decides which
clip is next. A clip requested twice is cut once. A worker process that dies is replaced. A cut that has started is
always finished; `backend.media.limits` bounds its processor time. The whole videos of the page Describe have a worker
of their own.
"""

import asyncio
import itertools
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from annotate_app.language import tr
from annotate_app.session.request_limits import TooMuch
from backend.core import processes
from backend.core.errors import VideoUnreadable
from backend.core.ids import AnnotatorId

MOST_WAITING = 48
"""Clips that one person may have waiting. The largest page, a lead's list, requests 25."""

Key = TypeVar("Key", bound=Hashable)


class Priority(IntEnum):
    """How urgent a clip is; clips with smaller values are cut first."""

    DESK = 0
    """Somebody waits for it at the desk, in the practice or in a review."""
    AHEAD = 1
    """The clip will soon be on somebody's desk; no request waits for it."""
    CONTEXT = 2
    """The seconds around a moment, or an example of the guideline."""
    EXTRA = 3
    """Storyboards, GIFs, thumbnails and the moments of a lead's lists."""


@dataclass
class _Waiting:
    """A clip in the queue.

    Attributes:
        number: its place in the order of arrival; smaller numbers came earlier.
        claims: the number of requests for it, by priority and user.
    """

    number: int
    claims: Counter[tuple[Priority, AnnotatorId]] = field(default_factory=Counter)


class ClipQueue(Generic[Key]):
    """Queue of clips to cut. A clip is queued once, however many users want it.

    Clips with the smallest priority value are cut first. Within a priority, users take turns: the user served longest
    ago is next. So between two clips of one user, each other user gets at most one of the same priority. Of one user's
    clips, the oldest is cut first. `most` is the largest number of clips that one user may have waiting.

    >>> queue = ClipQueue[str]()
    >>> for clip in ("a", "b", "c"):
    ...     _ = queue.add(clip, AnnotatorId(1), Priority.DESK)
    >>> queue.next()
    'a'
    >>> _ = queue.add("d", AnnotatorId(2), Priority.DESK)
    >>> [queue.next() for _ in range(4)]
    ['d', 'b', 'c', None]
    """

    def __init__(self, most: int = MOST_WAITING) -> None:
        self._most = most
        self._waiting: dict[Key, _Waiting] = {}
        self._numbers = itertools.count(1)
        self._served: defaultdict[AnnotatorId, int] = defaultdict(int)
        """When each person was last served, as a running number."""

    def __contains__(self, key: Key) -> bool:
        """Return whether a clip is in the queue."""
        return key in self._waiting

    def counts(self) -> Counter[Priority]:
        """Return the number of queued clips for each priority; a clip counts at the most urgent priority requested."""
        return Counter(min(waiting.claims)[0] for waiting in self._waiting.values())

    def add(self, key: Key, person: AnnotatorId, priority: Priority) -> Key | None:
        """Add a user's request for a clip, and return the clip that was dropped to make room for it, if any.

        A user who already has `most` clips waiting loses the oldest that nobody waits for (priority `AHEAD`).

        Raises:
            TooMuch: this user has `most` clips waiting, and requests wait for all of them.
        """
        dropped: Key | None = None
        waiting = self._waiting.get(key)
        if not (waiting and any(who == person for _, who in waiting.claims)):
            own_clips = [clip for clip, other in self._waiting.items() if any(who == person for _, who in other.claims)]
            if len(own_clips) >= self._most:
                dropped = self._dropped_for(own_clips, person)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(next(self._numbers))
        waiting.claims[priority, person] += 1
        if priority is Priority.AHEAD:
            waiting.claims[priority, person] = 1  # every exchange requests the whole desk again
        return dropped

    def leave(self, key: Key, person: AnnotatorId, priority: Priority) -> bool:
        """Withdraw one request made by `add`; return whether the clip left the queue because nobody else wants it."""
        waiting = self._waiting.get(key)
        if waiting is None or (priority, person) not in waiting.claims:
            return False
        waiting.claims[priority, person] -= 1
        if not waiting.claims[priority, person]:
            del waiting.claims[priority, person]
        if not waiting.claims:
            del self._waiting[key]
        return key not in self._waiting

    def next(self) -> Key | None:
        """Remove the next clip to cut from the queue, and return it; None if the queue is empty."""
        turns = (
            (priority, self._served[person], waiting.number, person, key)
            for key, waiting in self._waiting.items()
            for priority, person in waiting.claims
        )
        first = min(turns, key=lambda turn: turn[:3], default=None)
        if first is None:
            return None
        _, _, _, person, key = first
        self._served[person] = next(self._numbers)
        del self._waiting[key]
        return key

    def _dropped_for(self, own_clips: list[Key], person: AnnotatorId) -> Key | None:
        """Withdraw a user's request for the oldest of their clips that nobody waits for (priority `AHEAD`).

        Return the clip if it left the queue, or None if somebody else wants it.
        """
        for key in own_clips:
            if all(who != person or priority is Priority.AHEAD for priority, who in self._waiting[key].claims):
                return key if self.leave(key, person, Priority.AHEAD) else None
        raise TooMuch(tr("Too many clips at once. Please wait a moment."), 2)


class CutJob(Protocol):
    """A clip to cut, pickled for the worker process. `path` is the finished file and identifies the job."""

    @property
    def path(self) -> Path:
        """Path of the finished clip."""


J = TypeVar("J", bound=CutJob)


def _settle_in(_cut: object) -> None:
    """Lower the priority of the new process. The argument is unused: receiving it imports what cutting needs."""
    if hasattr(os, "nice"):
        os.nice(5)  # people grading go first where cores are few


def _nothing() -> None:
    """Do nothing: submitting this first task starts the process."""


class ClipWorker(Generic[J]):
    """One process that cuts clips, with a queue in front of it.

    `cut` is a module-level function that cuts the clip of a job and returns its path. It raises `VideoUnreadable` for a
    clip that cannot be made.
    """

    def __init__(self, cut: Callable[[J], Path]) -> None:
        self._cut = cut
        self._pool: Executor | None = None
        self._queue: ClipQueue[Path] = ClipQueue()
        self._asked: dict[Path, tuple[J, asyncio.Future[Path]]] = {}
        """Jobs that wait or are being cut, with their futures, by path."""
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the process now, so that the first clip does not wait for imports."""
        self._pool = self._new_pool()
        self._pool.submit(_nothing)

    def stop(self) -> None:
        """Drop all queued clips and end the process once the clip being cut is finished; do not wait for it."""
        if self._running is not None:
            self._running.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    @property
    def queued(self) -> tuple[int, int]:
        """Two numbers of queued clips: those that somebody waits for (priority `DESK`), and all others.

        The clip being cut is not counted.
        """
        counts = self._queue.counts()
        return counts[Priority.DESK], counts.total() - counts[Priority.DESK]

    def ask(self, job: J, person: AnnotatorId, priority: Priority) -> asyncio.Future[Path]:
        """Request a clip, and return a future that gives its path.

        All requests for a clip share one future, so do not cancel it.

        Raises:
            TooMuch: this user has too many clips waiting. The future raises it too, if nobody waited for the clip and
                it was dropped to make room for another clip of the same user.
            VideoUnreadable: (from the future) the clip cannot be made; the text is written for the lead.
        """
        entry = self._asked.get(job.path)
        if entry is None or job.path in self._queue:
            dropped_path = self._queue.add(job.path, person, priority)
            if dropped_path is not None:
                _, dropped = self._asked.pop(dropped_path)
                dropped.set_exception(TooMuch(tr("Too many clips at once. Please wait a moment."), 2))
        if entry is None:
            future: asyncio.Future[Path] = asyncio.get_running_loop().create_future()
            future.add_done_callback(_seen)
            self._asked[job.path] = entry = job, future
            self._pump()
        return entry[1]

    @contextmanager
    def waiting_for(self, job: J, person: AnnotatorId, priority: Priority) -> Iterator[asyncio.Future[Path]]:
        """Request a clip while the `with` block runs.

        If the block ends before the clip is cut, the request is withdrawn.

        Raises:
            TooMuch: this user has too many clips waiting.
        """
        future = self.ask(job, person, priority)
        try:
            yield future
        finally:
            if not future.done() and self._queue.leave(job.path, person, priority):
                self._asked.pop(job.path)[1].cancel()

    def _pump(self) -> None:
        # The pool's own queue is first in, first out; it gets one job at a time so that `ClipQueue` decides the order.
        if self._running is None and (path := self._queue.next()) is not None:
            self._running = asyncio.get_running_loop().create_task(self._run(*self._asked[path]))
            self._running.add_done_callback(self._ran)

    def _ran(self, task: asyncio.Task[None]) -> None:
        self._running = None
        if not task.cancelled():
            self._pump()

    async def _run(self, job: J, future: asyncio.Future[Path]) -> None:
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
        return processes.pool(1, _settle_in, (self._cut,))


def _seen(future: asyncio.Future[Path]) -> None:
    """Retrieve the exception of a clip's future: otherwise asyncio would log a warning if nobody waits for the clip."""
    if not future.cancelled():
        future.exception()
