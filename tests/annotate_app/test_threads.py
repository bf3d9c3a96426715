"""Functions of requests run in threads: what they get, how many run at a time, and which thread is next."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from annotate_app.session.threads import Threads

language: ContextVar[str] = ContextVar("language", default="en")


def test_a_function_has_the_callers_context_and_gives_its_result_or_its_error() -> None:
    def greet(name: str, *, loud: bool) -> tuple[str, str, bool]:
        return language.get(), name.upper() if loud else name, threading.current_thread() is threading.main_thread()

    def ends() -> int:
        return next(iter(list[int]()))

    async def ask() -> None:
        threads = Threads()
        language.set("de")
        assert await threads.run(greet, "ana", loud=True) == ("de", "ANA", False)
        with pytest.raises(ZeroDivisionError):
            await threads.run(lambda: 1 // 0)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.wait_for(threads.run(ends), 20)

    asyncio.run(ask())


def test_the_thread_that_worked_last_works_next() -> None:
    async def ask() -> None:
        threads, both = Threads(), threading.Barrier(2)
        first = asyncio.ensure_future(threads.run(lambda: (both.wait(), threading.get_ident())[1]))
        second = await threads.run(lambda: (both.wait(), threading.get_ident())[1])
        assert await first != second
        last = await threads.run(threading.get_ident)
        assert [await threads.run(threading.get_ident) for _ in range(5)] == [last] * 5

    asyncio.run(ask())


def test_only_so_many_run_at_a_time_and_the_others_follow_in_their_order() -> None:
    begun: list[int] = []
    running, most, lock, go = set[int](), [0], threading.Lock(), threading.Event()

    def work(n: int) -> int:
        with lock:
            begun.append(n)
            running.add(n)
            most[0] = max(most[0], len(running))
        assert go.wait(20)
        with lock:
            running.remove(n)
        return n

    async def ask() -> None:
        threads = Threads(most=2)
        calls = [asyncio.ensure_future(threads.run(work, n)) for n in range(7)]
        while len(begun) < 2:
            await asyncio.sleep(0)
        go.set()
        assert await asyncio.wait_for(asyncio.gather(*calls), 20) == [*range(7)]

    asyncio.run(ask())
    assert (most[0], {*begun[:2]}, sorted(begun)) == (2, {0, 1}, [*range(7)])


def test_a_cancelled_caller_leaves_its_function_to_end_and_its_thread_to_others() -> None:
    began, go, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        assert go.wait(20)
        ended.set()

    async def ask() -> None:
        threads = Threads(most=1)
        call = asyncio.ensure_future(threads.run(work))
        while not began.is_set():
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        following = asyncio.ensure_future(threads.run(ended.is_set))
        go.set()
        assert await asyncio.wait_for(following, 20), "it waited for the only thread"

    asyncio.run(ask())


def test_idle_threads_end_when_they_are_stopped_and_new_ones_start_after_that() -> None:
    async def ask() -> None:
        threads = Threads(most=1)
        thread = await threads.run(threading.current_thread)
        threads.stop()
        assert not thread.is_alive()
        assert await asyncio.wait_for(threads.run(threading.current_thread), 20) is not thread

    asyncio.run(ask())
