"""Run functions that wait, such as those that read the database, in threads, so that the event loop goes on."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
MOST_THREADS = 40
"""Functions that run at a time; further ones wait. Each thread has a database connection of its own."""
_STOP_S = 1.0
"""Seconds to wait for each idle thread to end."""


class Threads:
    """At most `most` threads, started when needed. Several event loops may use them.

    Starlette's `run_in_threadpool` takes three turns of the event loop for each function. This takes one, and costs
    two thirds as much CPU. The thread that worked last works next, because its database connection has the newest
    pages.
    """

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._started = 0
        self._idle: list[_Thread] = []
        """The one that worked last is at the end."""
        self._waiting: deque[Callable[[_Thread], None]] = deque()

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a function in a thread, with the context variables of the caller, and return its result.

        If the caller is cancelled, the function still runs to its end.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[R] = loop.create_future()
        call = partial(copy_context().run, partial(function, *args, **kwargs))

        def work(thread: _Thread) -> None:
            try:
                settle = partial(_succeed, future, call())
            except BaseException as error:
                settle = partial(_fail, future, error)
            self._free(thread)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle)

        self._begin(work)
        return await future

    def stop(self) -> None:
        """End the idle threads, which closes their database connections. The others end with the process."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._started -= len(idle)
        for thread in idle:
            thread.works.put(None)
        for thread in idle:
            thread.join(_STOP_S)

    def _begin(self, work: "Callable[[_Thread], None]") -> None:
        with self._lock:
            if self._idle:
                thread = self._idle.pop()
            elif self._started < self._most:
                self._started += 1
                thread = _Thread()
                thread.start()
            else:
                self._waiting.append(work)
                return
        thread.works.put(work)

    def _free(self, thread: "_Thread") -> None:
        with self._lock:
            if self._waiting:
                thread.works.put(self._waiting.popleft())
            else:
                self._idle.append(thread)


class _Thread(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="request", daemon=True)
        self.works: SimpleQueue[Callable[[_Thread], None] | None] = SimpleQueue()

    def run(self) -> None:
        while (work := self.works.get()) is not None:
            work(self)
            del work  # it holds the function's arguments


def _succeed(future: asyncio.Future[R], result: R) -> None:
    if not future.done():  # else the caller was cancelled
        future.set_result(result)


def _fail(future: asyncio.Future[R], error: BaseException) -> None:
    if not future.done():
        # A future takes no StopIteration.
        future.set_exception(RuntimeError(repr(error)) if isinstance(error, StopIteration) else error)


request_threads = Threads()
"""The threads of this process."""
in_thread = request_threads.run
