"""Start worker processes on this machine, and limit the time and memory of a piece of work.

Worker processes come from loky. They start without the main module and end with their parent. Python's own spawned
processes do neither. They run the main module of the parent again: the whole command line or, in a Streamlit server,
the page that is open. If their parent is killed, they wait forever for more work.

Limits are on processor time, so that a busy machine rejects nothing that an idle one accepts, and on memory.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from backend.core.messages import said

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


Result = TypeVar("Result")

END_SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""The signals that ask a server to end."""
UNWIND_S = 1.0
"""Seconds that a worker has for cleaning up when it has to end."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def pool(
    processes: int,
    initializer: Callable[..., object] | None = None,
    initargs: tuple[Any, ...] = (),
    *,
    kept_s: int | None = None,
) -> Executor:
    """Return a pool of new worker processes.

    They are not forked: a fork would copy locks (of threads, progress bars, BLAS) in whatever state they are. Workers
    ignore Ctrl-C, which reaches all processes of a terminal; the process that made the pool handles it. Several workers
    share the cores: each uses its part of them, unless the environment sets the number of threads.

    Args:
        processes: the number of workers.
        initializer: called in each worker when it starts.
        initargs: the arguments of `initializer`.
        kept_s: seconds after which an idle worker ends; a new one starts when there is work. None keeps workers.
    """
    from loky import ProcessPoolExecutor  # not needed by work in one process

    threads = str(max(1, (os.cpu_count() or 1) // processes))
    env = {name: threads for name in _THREADS if processes > 1 and name not in os.environ}
    arguments = (_life_line()[0], initializer, initargs)
    executor: Executor = ProcessPoolExecutor(
        processes, initializer=_start_worker, initargs=arguments, env=env, timeout=kept_s
    )
    return executor


def alone(work: Callable[..., Result], *arguments: object, niceness: int = 0) -> Future[Result]:
    """Start one long piece of work in its own process, which ends with the work; return its future at once.

    Args:
        work: a function of a module.
        arguments: the arguments of `work`, which are sent to the process.
        niceness: the niceness of the process, from 0 to 19; at a higher one it gives way to others.
    """
    workers = pool(1, os.nice, (niceness,))
    future = workers.submit(work, *arguments)
    workers.shutdown(wait=False)
    return future


def end_all(patience_s: float = 2 * UNWIND_S) -> None:
    """End all workers of this process, in every pool, and wait until they have ended.

    Their work is interrupted as by Ctrl-C: unfinished files are removed, transactions are undone, futures fail. No new
    work may be started afterwards.

    Args:
        patience_s: the most seconds to wait; workers end even if nobody waits for them.
    """
    from multiprocessing import active_children

    _life_line()[1].close()
    until = time.monotonic() + patience_s
    for worker in active_children():
        worker.join(max(0.0, until - time.monotonic()))


def is_ending() -> bool:
    """Return whether `end_all` was called; if so, work that fails now was interrupted."""
    return _life_line()[1].closed


@cache
def _life_line() -> "tuple[Connection, Connection]":
    """Return the (receiving, sending) ends of a pipe that tells workers when this process ends.

    Nothing is ever sent. Each worker waits at the receiving end. The sending end closes when this process ends, even if
    it is killed, and then the worker ends too.
    """
    from multiprocessing import Pipe

    return Pipe(duplex=False)


def _start_worker(line: "Connection", initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    """Prepare a new worker process, then call `initializer` in it.

    The worker ends when `line`, the receiving end of `_life_line`, tells it that its parent has ended. It ignores
    Ctrl-C.
    """

    def leave_with_it() -> None:
        line.poll(None)
        if sys.platform != "win32":  # Windows cannot interrupt one thread
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
            time.sleep(UNWIND_S)
        os._exit(1)

    threading.Thread(target=leave_with_it, daemon=True).start()
    mark_as_worker()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _break_off)
    if initializer is not None:
        initializer(*initargs)


def _break_off(_number: int, _frame: object) -> None:
    """Interrupt the worker so that its `finally` clauses run, without printing a traceback."""
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    raise KeyboardInterrupt


MEMORY_BYTES = 4 << 30
"""Limit of additional memory, above what the process has when a piece of work begins."""

GRACE_S = 10.0
"""Seconds after the limit until a worker is killed that is stuck in a library and cannot raise an error."""

ENDED_BY = "SIGPROF"
"""The signal that such a worker dies of, as loky reports it; trying the same work again would end the same way."""

_worker = False


class OutOfBounds(Exception):
    """A piece of work took more time or memory than allowed.

    The text of the error names the limit, such as `more than 120 s of processor time`.
    """


def mark_as_worker() -> None:
    """Mark this process as a worker, which `bounded` may kill; the process that started it notices its death."""
    global _worker
    _worker = True


@contextmanager
def bounded(cpu_s: float, memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Limit the processor time and the additional memory of the block of code inside.

    Outside the main thread there is no limit, because a timer can interrupt the main thread only. A worker process that
    does not stop is killed `GRACE_S` seconds after its limit, even inside a library. A process that is no worker is
    never killed: whoever waits for it can end it.

    Args:
        cpu_s: seconds of processor time of this process.
        memory_bytes: how many bytes the process may take in addition to those that it has now.

    Raises:
        OutOfBounds: the block took more. A library that gets no memory may raise an error of its own instead.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource  # missing on Windows, where runs can still be scored

    before = resource.getrlimit(resource.RLIMIT_AS)
    virtual_handler = signal.signal(signal.SIGVTALRM, _raise_time_up)
    prof_handler = signal.signal(signal.SIGPROF, signal.SIG_DFL) if _worker else None
    try:
        _limit_memory(memory_bytes, before)
        signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
        if _worker:
            signal.setitimer(signal.ITIMER_PROF, cpu_s + GRACE_S)
        yield
    except MemoryError:
        raise OutOfBounds(said("more than {memory:g} GiB of memory", memory=memory_bytes / 2**30)) from None
    except _TimeUp:
        raise OutOfBounds(said("more than {seconds:.0f} s of processor time", seconds=cpu_s)) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, virtual_handler)
        if _worker:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, prof_handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


class _TimeUp(Exception):
    """The time limit of `bounded` is over."""


def _raise_time_up(_number: int, _frame: FrameType | None) -> None:
    raise _TimeUp


def _limit_memory(more_bytes: int, before: tuple[int, int]) -> None:
    """Limit the address space of this process to `more_bytes` above what is in use, which works on every Linux.

    `before` holds the earlier limits (soft, hard). The lower of an earlier and the new limit applies. There is no new
    limit if the kernel does not say how much is in use.
    """
    import resource

    try:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return
    limit = used + more_bytes
    if all(existing == resource.RLIM_INFINITY or limit < existing for existing in before):
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
