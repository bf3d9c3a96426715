"""Limit what one user's pages cost everybody else: open websockets, messages and script runs.

A page talks through one websocket. Each message that reruns the page's script costs the server some ten milliseconds of
Python, and while that runs, nobody else's request moves on. So every user has a budget of runs, shared by all their
pages. A message beyond it is not refused: the server reads it later, and the page waits. The numbers leave room for
somebody who opens eight pages at once; they bound a program that sends as fast as it can.
"""

import asyncio
import heapq
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from annotate_app.session.rate_limit import RecentUse
from backend.campaign.nouns import Role
from backend.core.ids import AnnotatorId

OTHER_MESSAGE = 0.1
"""What a message costs that runs no script, such as a sign of life, in runs."""


@dataclass(frozen=True)
class Limits:
    """What one user may do by websocket."""

    pages: int
    """Open at a time."""
    burst: float
    """Script runs without a wait, after a pause."""
    runs_per_s: float
    """Script runs in the long run."""
    message_bytes: int
    """Size of one message; those of the app's pages have some kilobytes."""
    kept_sessions: int
    """Closed pages whose state the server keeps for a reconnect, for two minutes at most."""


LIMITS = {
    Role.ANNOTATOR: Limits(pages=8, burst=24, runs_per_s=2, message_bytes=64 * 1024, kept_sessions=4),
    Role.LEAD: Limits(pages=24, burst=120, runs_per_s=20, message_bytes=2 * 1024 * 1024, kept_sessions=12),
}
LARGEST_MESSAGE_BYTES = max(limits.message_bytes for limits in LIMITS.values())
"""The server reads no more of a message than this, whoever sends it."""
SCRIPTS_AT_ONCE = 1
"""Script runs of all annotators at a time. Each one more slows down every request that is answered beside it."""
LONGEST_WAIT_S = 30.0
"""After this long a script runs although it is not its turn: a run that hangs must not stop all others."""
_HALF_LIFE_S = 10.0


class RunBudget:
    """Script runs that each user may still start; used in one event loop. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: dict[AnnotatorId, tuple[float, float]] = {}
        """Runs left, and when that was so; below zero are those that others of the user's pages wait for."""

    def take(self, user: AnnotatorId, limits: Limits, cost: float) -> float:
        """Take some of a user's budget, and return the seconds to wait before using it.

        >>> now = [0.0]
        >>> budget = RunBudget(lambda: now[0])
        >>> limits = Limits(pages=1, burst=2, runs_per_s=4, message_bytes=1, kept_sessions=1)
        >>> [budget.take(AnnotatorId(1), limits, 1) for _ in range(4)]
        [0.0, 0.0, 0.25, 0.5]
        >>> now[0] = 1.0
        >>> budget.take(AnnotatorId(1), limits, 1)
        0.0
        """
        now = self._clock()
        left, at = self._left.get(user, (limits.burst, now))
        left = min(limits.burst, left + (now - at) * limits.runs_per_s) - cost
        self._left[user] = (left, now)
        return max(0.0, -left / limits.runs_per_s)

    async def wait(self, user: AnnotatorId, limits: Limits, cost: float) -> None:
        """Take some of a user's budget, and return when it may be used."""
        if wait_s := self.take(user, limits, cost):
            await asyncio.sleep(wait_s)


class OpenPages:
    """How many websockets each user has open; used in one event loop."""

    def __init__(self) -> None:
        self._open: Counter[AnnotatorId] = Counter()

    def is_full(self, user: AnnotatorId, limits: Limits) -> bool:
        """Return whether the user has as many pages open as they may."""
        return self._open[user] >= limits.pages

    @contextmanager
    def one_more(self, user: AnnotatorId) -> Iterator[None]:
        """Count a page as open."""
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]


class ScriptTurns:
    """Let few scripts of annotators run at a time, first those of whoever ran least lately.

    Used in the threads of the script runs. A turn inside another one of the same thread is part of it.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = at_once
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, int, threading.Event]] = []
        """A heap: by how long the user's scripts ran lately, then by who came first."""
        self._numbers = itertools.count()
        self._ran = RecentUse(_HALF_LIFE_S, clock)
        self._here = threading.local()

    @contextmanager
    def of(self, user: AnnotatorId) -> Iterator[None]:
        """Wait for a turn, and have it while inside."""
        if getattr(self._here, "has_turn", False):
            yield
            return
        self._wait(user)
        self._here.has_turn, began = True, self._clock()
        try:
            yield
        finally:
            self._here.has_turn = False
            with self._lock:
                self._ran.add(user, self._clock() - began)
                if self._waiting:
                    heapq.heappop(self._waiting)[2].set()
                else:
                    self._free += 1

    def _wait(self, user: AnnotatorId) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            mine = (self._ran.of(user), next(self._numbers), threading.Event())
            heapq.heappush(self._waiting, mine)
        if not mine[2].wait(LONGEST_WAIT_S):
            with self._lock:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    heapq.heapify(self._waiting)
                    self._free -= 1
