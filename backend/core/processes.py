"""Processes of this machine beside this one, and bounds on what one piece of work may take.

They are loky's. They start clean, whatever the main module is, and end with whoever started them. A spawned process of
Python's own runs its parent's main module again: the whole command line, or, where Streamlit has installed the app's
script as the main module of the server, the page that somebody looks at. And a worker whose parent is killed waits for
work for ever, because it holds the other end of its own queue.

Bounds are on the processor's time, so that a busy machine refuses nothing that an idle one takes, and on memory.
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
"""What asks a server to end."""
UNWIND_S = 1.0
"""For so long a worker may clear away what it was making, when it has to end."""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def pool(
    processes: int,
    initializer: Callable[..., object] | None = None,
    initargs: tuple[Any, ...] = (),
    *,
    kept_s: int | None = None,
) -> Executor:
    """A pool of new processes; a fork would copy locks (of threads, bars, BLAS) in whatever state they are.

    Ctrl-C, which reaches all processes of a terminal, is left to the one that made the pool. Several processes share
    the cores: each computes with its part of them, unless the environment says how many threads there are. A
    process with nothing to do for `kept_s` seconds leaves; another takes its place when there is something.
    """
    from loky import ProcessPoolExecutor  # who works in one process does without

    threads = str(max(1, (os.cpu_count() or 1) // processes))
    env = {name: threads for name in _THREADS if processes > 1 and name not in os.environ}
    arguments = (_life_line()[0], initializer, initargs)
    made: Executor = ProcessPoolExecutor(processes, initializer=_begin, initargs=arguments, env=env, timeout=kept_s)
    return made


def alone(work: Callable[..., Result], *arguments: object, niceness: int = 0) -> Future[Result]:
    """Begin one long act in a process of its own, which ends with it, and return at once.

    Args:
        work: a function of a module.
        arguments: of it; they are sent to the other process.
        niceness: how much that process lets others go first, from 0 to 19.
    """
    workers = pool(1, os.nice, (niceness,))
    future = workers.submit(work, *arguments)
    workers.shutdown(wait=False)
    return future


def end_all(patience_s: float = 2 * UNWIND_S) -> None:
    """End all workers of this process, of whichever pool, and come back when they have ended.

    What they are at is broken off as by Ctrl-C: files that were arriving are cleared away, transactions undone. The
    futures of it fail. Nothing may be begun afterwards.

    Args:
        patience_s: seconds after which they are no longer waited for; they end by themselves all the same.
    """
    from multiprocessing import active_children

    _life_line()[1].close()
    until = time.monotonic() + patience_s
    for worker in active_children():
        worker.join(max(0.0, until - time.monotonic()))


def is_ending() -> bool:
    """Whether `end_all` was called: work that fails now was broken off."""
    return _life_line()[1].closed


@cache
def _life_line() -> "tuple[Connection, Connection]":
    """A pipe into which nobody writes: this end of it closes when this process ends, however it ends."""
    from multiprocessing import Pipe

    return Pipe(duplex=False)


def _begin(line: "Connection", initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    """Runs in a worker when it starts."""

    def leave_with_it() -> None:
        line.poll(None)
        if sys.platform != "win32":  # which has no way to interrupt one thread
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
            time.sleep(UNWIND_S)
        os._exit(1)

    threading.Thread(target=leave_with_it, daemon=True).start()
    worker_begins()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _break_off)
    if initializer is not None:
        initializer(*initargs)


def _break_off(_number: int, _frame: object) -> None:
    """Interrupt the worker so that its `finally` clauses run, without printing a traceback."""
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    raise KeyboardInterrupt


MEMORY_BYTES = 4 << 30
"""Beyond what the process has when a piece of work begins."""

GRACE_S = 10.0
"""So much later a worker is ended that does not come back from a library to be told."""

ENDED_BY = "SIGPROF"
"""How that is named where the death of a process is told: no other try would end otherwise."""

_worker = False


class OutOfBounds(Exception):
    """A piece of work took more than it may; the text is how much: `more than 120 s of processor time`."""


def worker_begins() -> None:
    """This process works for another one, which notices when it is gone: it may be ended where nothing else helps."""
    global _worker
    _worker = True


@contextmanager
def bounded(cpu_s: float, memory_bytes: int = MEMORY_BYTES) -> Iterator[None]:
    """Let what follows take so much processor time and additional memory, and no more.

    In a thread beside the main one nothing is bounded: timers come to the main one. A process that works for another
    is ended `GRACE_S` after it was to stop, whatever library holds it; any other is left to whoever waits for it.

    Args:
        cpu_s: seconds of processor time of this process.
        memory_bytes: above what it has now.

    Raises:
        OutOfBounds: it took more. A library may find an error of its own where memory is refused to it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    import resource  # Windows has none, and scores runs

    before = resource.getrlimit(resource.RLIMIT_AS)
    told = signal.signal(signal.SIGVTALRM, _tell)
    ended = signal.signal(signal.SIGPROF, signal.SIG_DFL) if _worker else None
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
        signal.signal(signal.SIGVTALRM, told)
        if _worker:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, ended)
        resource.setrlimit(resource.RLIMIT_AS, before)


class _TimeUp(Exception):
    """The timer of this process has run out."""


def _tell(_number: int, _frame: FrameType | None) -> None:
    raise _TimeUp


def _limit_memory(more_bytes: int, before: tuple[int, int]) -> None:
    """By address space, a limit that all of Linux keeps; where the kernel does not tell how much there is, none."""
    import resource

    try:
        held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return
    limit = held + more_bytes
    if all(one == resource.RLIM_INFINITY or limit < one for one in before):
        resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
