"""Cut clips in a separate process, so that a minute of encoding never delays a key press.

Everything here runs on the event loop except the cutting itself. `ClipQueue` says which clip is next. A clip asked for
twice is cut once. A cutter that dies is replaced. A cut that has begun is finished: `backend.media.limits` bounds its
processor time, and whole videos to describe have a worker of their own.
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
"""Clips that one person may have waiting. The page that asks for most, a lead's list, asks for 25."""

Key = TypeVar("Key", bound=Hashable)


class Priority(IntEnum):
    """What a clip is wanted for; smaller goes first."""

    DESK = 0
    """Somebody waits for it at the desk, in the practice or in a review."""
    AHEAD = 1
    """It will soon be on somebody's desk; no request waits for it."""
    CONTEXT = 2
    """The seconds around a moment, or an example of the guideline."""
    EXTRA = 3
    """Storyboards, GIFs, thumbnails and the moments of a lead's lists."""


@dataclass
class _Waiting:
    """A clip that waits. `claims` counts who wants it, at which priority."""

    number: int
    claims: Counter[tuple[Priority, AnnotatorId]] = field(default_factory=Counter)


class ClipQueue(Generic[Key]):
    """Clips that wait to be cut, each once however many people want it.

    The best priority goes first. Within a priority, whoever was served longest ago goes first, so that each other
    person gets at most one clip of the same priority before yours. Within a person, the oldest clip goes first.

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
        """Whether a clip waits."""
        return key in self._waiting

    def counts(self) -> Counter[Priority]:
        """Return how many clips wait at each priority."""
        return Counter(min(waiting.claims)[0] for waiting in self._waiting.values())

    def add(self, key: Key, person: AnnotatorId, priority: Priority) -> Key | None:
        """Note that a person wants a clip, and return the clip that left the queue for it, if any.

        Whoever has `most` clips waiting loses the oldest one that was only to be cut ahead.

        Raises:
            TooMuch: this person has `most` clips waiting, and requests wait for all of them.
        """
        left: Key | None = None
        waiting = self._waiting.get(key)
        if not (waiting and any(who == person for _, who in waiting.claims)):
            wanted = [found for found, other in self._waiting.items() if any(who == person for _, who in other.claims)]
            if len(wanted) >= self._most:
                left = self._dropped_for(wanted, person)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(next(self._numbers))
        waiting.claims[priority, person] += 1
        if priority is Priority.AHEAD:
            waiting.claims[priority, person] = 1  # every exchange asks for the whole desk again
        return left

    def leave(self, key: Key, person: AnnotatorId, priority: Priority) -> bool:
        """Take back one `add`; return whether the clip left the queue because nobody else wants it."""
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
        """Remove the clip whose turn it is, and return it."""
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

    def _dropped_for(self, wanted: list[Key], person: AnnotatorId) -> Key | None:
        """Take back this person's oldest clip that no request of theirs waits for."""
        for key in wanted:
            if all(who != person or priority is Priority.AHEAD for priority, who in self._waiting[key].claims):
                return key if self.leave(key, person, Priority.AHEAD) else None
        raise TooMuch(tr("Too many clips at once. Please wait a moment."), 2)


class CutJob(Protocol):
    """What to cut; pickled to the worker. `path` is the finished file and identifies the job."""

    @property
    def path(self) -> Path:
        """Where the clip is, or will be."""


J = TypeVar("J", bound=CutJob)


def _settle_in(_cut: object) -> None:
    """Runs in the worker when it starts; receiving `_cut` has imported what cutting needs."""
    if hasattr(os, "nice"):
        os.nice(5)  # people grading go first where cores are few


def _nothing() -> None:
    """The first task: submitting it starts the process."""


class ClipWorker(Generic[J]):
    """A queue in front of one process.

    `cut` is a module-level function `job -> path` that raises `VideoUnreadable` for a clip that cannot be made.
    """

    def __init__(self, cut: Callable[[J], Path]) -> None:
        self._cut = cut
        self._pool: Executor | None = None
        self._queue: ClipQueue[Path] = ClipQueue()
        self._asked: dict[Path, tuple[J, asyncio.Future[Path]]] = {}
        """What waits and what is being cut."""
        self._running: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the process now, so that the first clip does not wait for imports."""
        self._pool = self._new_pool()
        self._pool.submit(_nothing)

    def stop(self) -> None:
        """Drop what is queued; a clip being cut is finished in the background."""
        if self._running is not None:
            self._running.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    @property
    def queued(self) -> tuple[int, int]:
        """How many clips people at the desk wait for, and how many others wait; the one being cut does not count."""
        counts = self._queue.counts()
        return counts[Priority.DESK], counts.total() - counts[Priority.DESK]

    def ask(self, job: J, person: AnnotatorId, priority: Priority) -> asyncio.Future[Path]:
        """Return a future of the finished clip, shared by everybody who asks for it; do not cancel it.

        Raises:
            TooMuch: this person has too many clips waiting. The future raises it too, if the clip was to be cut ahead
                and made room for others of the same person.
            VideoUnreadable: (from the future) the clip cannot be made; the text is written for the lead.
        """
        known = self._asked.get(job.path)
        if known is None or job.path in self._queue:
            left = self._queue.add(job.path, person, priority)
            if left is not None:
                _, dropped = self._asked.pop(left)
                dropped.set_exception(TooMuch(tr("Too many clips at once. Please wait a moment."), 2))
        if known is None:
            future: asyncio.Future[Path] = asyncio.get_running_loop().create_future()
            future.add_done_callback(_seen)
            self._asked[job.path] = known = job, future
            self._pump()
        return known[1]

    @contextmanager
    def waiting_for(self, job: J, person: AnnotatorId, priority: Priority) -> Iterator[asyncio.Future[Path]]:
        """Ask for a clip for as long as the block runs: whoever leaves it early gives up their place.

        Raises:
            TooMuch: this person has too many clips waiting.
        """
        future = self.ask(job, person, priority)
        try:
            yield future
        finally:
            if not future.done() and self._queue.leave(job.path, person, priority):
                self._asked.pop(job.path)[1].cancel()

    def _pump(self) -> None:
        # The pool's own queue is first in, first out; handing it one job at a time keeps the order ours.
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
    """Nobody may be waiting for a clip cut ahead; its failure is reported by whoever asked for it."""
    if not future.cancelled():
        future.exception()
