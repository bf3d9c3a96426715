"""Run many units of work in this process, in several processes of this machine, or on a cluster."""

import atexit
import gc
import os
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from backend.core.errors import WorkerLost
from backend.core.processes import ENDED_BY, pool
from backend.core.progress import Steps
from backend.core.where import HERE, Where, WorkerDied

if TYPE_CHECKING:
    from backend.core.cluster import ClusterCrew

Shared = TypeVar("Shared")
Unit = TypeVar("Unit")
Result = TypeVar("Result")

TRIES = 3
"""How often a unit is tried if its process dies; from the second time on it runs alone."""
_KEPT_S = 60
"""Seconds for which an idle process is kept for the next units that run apart."""

_work: Callable[[Any], Any]
"""The function that this process, a worker, calls with each unit."""


def run_units(
    work: Callable[[Shared, Unit], Result],
    shared: Shared,
    units: Sequence[Unit],
    where: Where = HERE,
    *,
    called: Callable[[Unit], str] = str,
    sees: Collection[Path] = (),
    fills: Collection[Path] = (),
    apart: bool = False,
    kept: bool = True,
    lost: Callable[[Unit, str], Result] | None = None,
    progress: Steps | None = None,
) -> list[Result]:
    """Return `[work(shared, unit) for unit in units]`, computed where `where` says; see `each_unit`.

    Results are in the order of the units. If several units fail, the error that happens first is raised.

    Args:
        work: a function of a module, so that other processes can import it.
        shared: data for all units, sent to each process once.
        units: small descriptions of the work.
        where: in this process, in several, or on a cluster.
        called: returns the name of a unit for the message that its process died.
        sees: files and folders that units read, which the machines of a cluster have to share.
        fills: folders that units write into, which they have to share too.
        apart: see `each_unit`.
        kept: see `each_unit`.
        lost: see `each_unit`.
        progress: called with (units done, units in all).
    """
    report = progress or (lambda done, total: None)
    if where.cluster is None:
        where = Where(max(1, min(where.jobs, len(units))))
    results: dict[int, Result] = {}
    results_stream = each_unit(
        work, shared, units, where, called=called, sees=sees, fills=fills, apart=apart, kept=kept, lost=lost
    )
    with closing(results_stream) as done:
        for number, result in done:
            results[number] = result
            report(len(results), len(units))
    return [results[number] for number in range(len(units))]


def each_unit(
    work: Callable[[Shared, Unit], Result],
    shared: Shared,
    units: Iterable[Unit],
    where: Where = HERE,
    *,
    called: Callable[[Unit], str] = str,
    sees: Collection[Path] = (),
    fills: Collection[Path] = (),
    apart: bool = False,
    kept: bool = True,
    lost: Callable[[Unit, str], Result] | None = None,
) -> Generator[tuple[int, Result], None, None]:
    """Yield (number of a unit, its result) as units finish; later units are taken from `units` as earlier ones finish.

    After an error or Ctrl-C no more units are started; those running on this machine are waited for.

    Args:
        work: see `run_units`.
        shared: see `run_units`.
        units: see `run_units`.
        where: see `run_units`.
        called: see `run_units`.
        sees: see `run_units`.
        fills: see `run_units`.
        apart: whether to use another process even if `where` names one job, because a unit may crash its process.
        kept: whether one job with `apart` may run in a process that an earlier call started. Such a process has the
            environment variables of that earlier time, and clients of object storage made with them.
        lost: gets a unit whose process died every time, and how it died; returns the unit's result. Without it,
            `WorkerLost` is raised.

    Raises:
        WorkerLost: a unit's process died each of `TRIES` times.
        ClusterUnavailable: the cluster cannot be reached, or lacks a file.
    """
    if where.cluster is None and where.jobs == 1 and not apart:
        for number, unit in enumerate(units):
            yield number, work(shared, unit)
        return
    crew: _Processes[Unit, Result] | ClusterCrew[Unit, Result]
    if where.cluster is None:
        crew = _Processes(where.jobs, work, shared) if where.jobs > 1 or not kept else _KeptProcess(work, shared)
    else:
        from backend.core import cluster  # loads Dask

        crew = cluster.ClusterCrew(where.cluster, work, shared, sees, fills)
    try:
        yield from _deal(crew, enumerate(units), called, lost)
    finally:
        crew.close()


def _deal(
    crew: "_Processes[Unit, Result] | ClusterCrew[Unit, Result]",
    units: Iterator[tuple[int, Unit]],
    called: Callable[[Unit], str],
    lost: Callable[[Unit, str], Result] | None,
) -> Iterator[tuple[int, Result]]:
    running: dict[Any, tuple[int, Unit]] = {}
    suspects: list[tuple[int, Unit]] = []
    while True:
        if not suspects:
            running |= {
                crew.submit(numbered[1]): numbered for numbered in islice(units, max(0, crew.at_once - len(running)))
            }
        if not running and not suspects:
            return
        if not running:
            # Any unit that ran at the same time may have killed the process: running each alone shows which one does.
            yield from ((number, _retry(crew, unit, called, lost)) for number, unit in suspects)
            suspects = []
            continue
        for future in crew.finished(running):
            number, unit = running.pop(future)
            try:
                result = crew.result(future)
            except WorkerDied as died:
                if lost is not None and crew.at_once == 1 and ENDED_BY in str(died):
                    yield number, lost(unit, str(died))
                else:
                    suspects.append((number, unit))
            else:
                yield number, result


def _retry(
    crew: "_Processes[Unit, Result] | ClusterCrew[Unit, Result]",
    unit: Unit,
    called: Callable[[Unit], str],
    lost: Callable[[Unit, str], Result] | None,
) -> Result:
    for tries in range(2, TRIES + 1):
        future = crew.submit(unit)
        while not crew.finished([future]):
            pass
        try:
            return crew.result(future)
        except WorkerDied as died:
            if lost is not None and (tries == TRIES or ENDED_BY in str(died)):
                return lost(unit, str(died))
            if tries == TRIES:
                raise WorkerLost.said(
                    "{called}: its process died {tries} times, the last time while it ran alone ({died}). It "
                    "needs more memory than there is, or it crashes a library. Leave it out to do the rest",
                    called=called(unit),
                    tries=TRIES,
                    died=died,
                ) from died
    raise AssertionError("TRIES is at least 2")


class _Processes(Generic[Unit, Result]):
    """Worker processes of this machine, which run units of work. If one dies, the library loky replaces all of them.

    Attributes:
        at_once: the most units to submit at a time. With fewer, processes would wait; with more, units would be started
            in vain when the work is stopped.
    """

    def __init__(self, processes: int, work: Callable[[Any, Unit], Result], shared: object) -> None:
        self._make_pool = partial(pool, processes, _set_work, (work, shared))
        self._pool = self._make_pool()
        self.at_once = processes + 1

    def submit(self, unit: Unit) -> Future[Result]:
        """Start a unit of work in a process, and return the future of its result."""
        try:
            return self._pool.submit(_run_unit, unit)
        except BrokenExecutor:
            self._pool.shutdown()
            self._pool = self._make_pool()
            return self._pool.submit(_run_unit, unit)

    def finished(self, futures: Collection[Future[Result]]) -> set[Future[Result]]:
        """Wait until at least one future has ended, with or without an error; return those that have ended."""
        return wait(futures, return_when=FIRST_COMPLETED).done

    def result(self, future: Future[Result]) -> Result:
        """Return the result of a future that has ended, or raise the error of its unit of work.

        Raises:
            WorkerDied: the process that ran it died.
        """
        try:
            return future.result()
        except BrokenExecutor as error:
            codes = re.search(r"are \{(.*)\}", str(error))
            raise WorkerDied(codes[1] if codes else str(error)) from error

    def close(self) -> None:
        """Start no more units of work, and wait for the running ones."""
        self._pool.shutdown()


class _KeptProcess(_Processes[Unit, Result]):
    """One worker process that is kept for later calls, because starting one takes longer than most units."""

    def __init__(self, work: Callable[[Any, Unit], Result], shared: object) -> None:
        self._run = partial(_run_in_folder, os.getcwd(), work, shared)
        self._futures: list[Future[Result]] = []
        self.at_once = 1

    def submit(self, unit: Unit) -> Future[Result]:
        try:
            self._futures.append(_kept_pool().submit(self._run, unit))
        except BrokenExecutor:
            _kept_pool.cache_clear()
            self._futures.append(_kept_pool().submit(self._run, unit))
        return self._futures[-1]

    def close(self) -> None:
        for future in self._futures:
            future.cancel()
        wait(self._futures)


def _run_in_folder(folder: str, work: Callable[[Any, Any], Any], shared: object, unit: object) -> Any:
    """Run a unit of work with `folder` as the current folder, so that relative paths mean the same as in the caller."""
    os.chdir(folder)
    return work(shared, unit)


def end_kept() -> None:
    """End the worker process that is kept for later calls, before `exec` replaces this program by another.

    This also frees the semaphores of the worker process.
    """
    if _kept_pool.cache_info().currsize:
        end = _kept_pool().shutdown
        end()
        atexit.unregister(end)
        _kept_pool.cache_clear()
        del end
        gc.collect()  # loky unlinks its semaphores when nothing refers to them any more


@cache
def _kept_pool() -> Executor:
    kept = pool(1, kept_s=_KEPT_S)
    atexit.register(kept.shutdown)  # before Python unloads the modules that this needs
    return kept


def _set_work(work: Callable[[Any, Any], Any], shared: object) -> None:
    global _work
    _work = partial(work, shared)


def _run_unit(unit: object) -> Any:
    return _work(unit)
