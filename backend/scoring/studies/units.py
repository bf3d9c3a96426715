"""Work in independent units, in as many processes as wanted, with the same result whatever their number.

Each unit has its own seed sequence, a numbered child of the study's; results come back in the order of units.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from typing import Any, TypeVar

import numpy as np

from backend.ground import processes
from backend.ground.progress import Steps

Shared = TypeVar("Shared")
Unit = TypeVar("Unit")
Result = TypeVar("Result")

_work: Callable[[Any], Any]


def generator_of(seed: int, *unit: int) -> np.random.Generator:
    """The random numbers of one unit of work: those of nobody else, and the same in any process.

    >>> bool(generator_of(7, 1, 2).random() == generator_of(7, 1, 2).random() != generator_of(7, 2, 1).random())
    True
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=unit))


def run_units(
    work: Callable[[Shared, Unit], Result],
    shared: Shared,
    units: Sequence[Unit],
    *,
    jobs: int,
    progress: Steps | None = None,
) -> list[Result]:
    """`[work(shared, unit) for unit in units]`, in `jobs` processes.

    Args:
        work: a function of a module, so that other processes can import it.
        shared: what all units read; it is sent to each process once.
        units: small descriptions of the work.
        jobs: processes; with 1 everything happens in this one.
        progress: called with (units done, all).
    """
    report = progress or (lambda done, total: None)
    if jobs == 1 or len(units) == 1:
        results = []
        for done, unit in enumerate(units, start=1):
            results.append(work(shared, unit))
            report(done, len(units))
        return results
    pool = processes.pool(min(jobs, len(units)), _begin, (work, shared))
    try:
        futures: list[Future[Result]] = [pool.submit(_one, unit) for unit in units]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            report(done, len(units))
        return [future.result() for future in futures]
    finally:
        # After a failure or Ctrl-C nothing more is begun; units under way are waited for.
        pool.shutdown(cancel_futures=True)


def chunks(total: int, size: int) -> Iterator[int]:
    """How many each chunk holds: `size`, and what is left at the end.

    >>> list(chunks(7, 3))
    [3, 3, 1]
    """
    for start in range(0, total, size):
        yield min(size, total - start)


def _begin(work: Callable[[Shared, Any], Any], shared: Shared) -> None:
    global _work
    # Ctrl-C reaches all processes of a terminal; the one that started these tells of it and ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def bound(unit: Any) -> Any:
        return work(shared, unit)

    _work = bound


def _one(unit: Any) -> Any:
    return _work(unit)
