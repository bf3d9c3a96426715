"""Bounds on what one piece of work may take, for work on what strangers made: processor time and memory.

Time is the processor's, so that a busy machine refuses nothing that an idle one takes.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from backend.core.messages import said

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
