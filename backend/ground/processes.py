"""Work in other processes: many units at once, one long act, or a pool that somebody feeds.

The processes start clean, whatever the main module is, and end with whoever started them.

A spawned process normally runs its parent's main module again: the whole command line, or, where Streamlit has
installed the app's script as the main module of the server, the page that somebody looks at. And a worker whose
parent is killed waits for work for ever, because it holds the other end of its own queue.
"""

import multiprocessing
import multiprocessing.context
import multiprocessing.process
import os
import signal
import sys
import threading
import types
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial
from typing import Any, TypeVar

from backend.ground.progress import Steps

Shared = TypeVar("Shared")
Unit = TypeVar("Unit")
Result = TypeVar("Result")

_work: Callable[[Any], Any]
"""What the units of this process are given to."""


class _CleanProcess(multiprocessing.context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: multiprocessing.process.BaseProcess) -> Any:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            return multiprocessing.context.SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = main


class _CleanContext(multiprocessing.context.SpawnContext):
    Process = _CleanProcess


def pool(
    processes: int, initializer: Callable[..., object] | None = None, initargs: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """A pool of spawned processes; a fork would copy locks (of threads, bars, BLAS) in whatever state they are.

    Ctrl-C, which reaches all processes of a terminal, is left to the one that made the pool.
    """
    arguments = (initializer, initargs)
    return ProcessPoolExecutor(processes, mp_context=_CleanContext(), initializer=_begin, initargs=arguments)


def alone(work: Callable[..., Result], *arguments: object) -> Future[Result]:
    """Begin one long act in a process of its own, which ends with it, and return at once."""
    workers = pool(1)
    future = workers.submit(work, *arguments)
    workers.shutdown(wait=False)
    return future


def run_units(
    work: Callable[[Shared, Unit], Result],
    shared: Shared,
    units: Sequence[Unit],
    *,
    jobs: int,
    progress: Steps | None = None,
) -> list[Result]:
    """`[work(shared, unit) for unit in units]`, in `jobs` processes.

    The results come in the order of the units; of several failures the first one that happens is raised.

    Args:
        work: a function of a module, so that other processes can import it.
        shared: what all units read; it is sent to each process once.
        units: small descriptions of the work.
        jobs: processes; with 1 everything happens in this one.
        progress: called with (units done, all).
    """
    report = progress or (lambda done, total: None)
    if jobs == 1 or len(units) <= 1:
        results = []
        for done, unit in enumerate(units, start=1):
            results.append(work(shared, unit))
            report(done, len(units))
        return results
    workers = pool(min(jobs, len(units)), _take_work, (work, shared))
    try:
        futures: list[Future[Result]] = [workers.submit(_one, unit) for unit in units]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            report(done, len(units))
        return [future.result() for future in futures]
    finally:
        # After a failure or Ctrl-C nothing more is begun; units under way are waited for.
        workers.shutdown(cancel_futures=True)


def _take_work(work: Callable[[Any, Any], Any], shared: object) -> None:
    global _work
    _work = partial(work, shared)


def _one(unit: object) -> Any:
    return _work(unit)


def _begin(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    """Runs in a worker when it starts."""
    parent = multiprocessing.parent_process()

    def leave_with_it() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=leave_with_it, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if initializer is not None:
        initializer(*initargs)
