"""Run units of work on a Dask cluster, whose workers see the files of this machine at the same paths."""

import logging
import os
import time
import warnings
from asyncio import AbstractEventLoop
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from socket import gethostname
from tempfile import NamedTemporaryFile
from typing import Any, Generic, TypeVar
from uuid import uuid4

from backend import __version__
from backend.core.errors import ClusterUnavailable
from backend.core.leftovers import OURS, temporary_prefix
from backend.core.where import WorkerDied

Unit = TypeVar("Unit")
Result = TypeVar("Result")
Requirement = tuple[str, int | None]
"""A path that a worker has to see, and its size in bytes; None if the size may differ (folders)."""

CONNECT_S = 10.0
WITHOUT_WORKER_S = 60.0
"""Seconds to wait without any worker. If something restarts a dead worker, it does so sooner."""
FETCH_S = 60.0
"""Seconds to wait for a result. Some megabytes arrive sooner."""
_POLL_S = 1.0

_seen: set[str] = set()
"""Keys of the work that this process, a worker, has been checked for."""


class ClusterCrew(Generic[Unit, Result]):
    """The workers of a cluster, which run units of work.

    If a worker dies, Dask runs its unit on other workers before it reports a failure.

    Args:
        address: the address of the scheduler.
        work: called with `shared` and a unit.
        shared: data for all units, sent to each worker once.
        sees: files and folders that all workers have to see.
        fills: folders that all workers have to write into.

    Raises:
        ClusterUnavailable: no scheduler or worker answers, or a worker lacks ReelRank of this version or a path.
    """

    def __init__(
        self,
        address: str,
        work: Callable[[Any, Unit], Result],
        shared: object,
        sees: Collection[Path],
        fills: Collection[Path],
    ) -> None:
        self._address = address
        self.at_once = 1
        self._last_worker_s = self._checked_s = time.monotonic()
        try:
            self._client = _client(address)
        except (OSError, ValueError, TypeError) as error:  # TypeError if TLS is not set up
            raise ClusterUnavailable(
                f"no scheduler answers at {address} ({error}): start one with `dask scheduler` and give the address it "
                "prints, or leave out --cluster"
            ) from error
        self._marks = ExitStack()
        try:
            self._start(work, shared, list(_requirements(self._marks, sees, fills)))
        except BaseException:
            self.close()
            raise

    def _start(self, work: Callable[[Any, Unit], Result], shared: object, requirements: list[Requirement]) -> None:
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError as error:
            raise ClusterUnavailable(
                f"the scheduler at {self._address} has no worker: start some with `dask worker {self._address}`"
            ) from error
        for worker, why in self._client.run(_shortcoming, __version__, requirements, on_error="return").items():
            if isinstance(why, OSError):
                continue  # it has left meanwhile; its replacement is checked before its first unit
            if isinstance(why, Exception):
                why = f"cannot run ReelRank {__version__} ({type(why).__name__}: {why}): install it there"
            if why:
                raise ClusterUnavailable(f"worker {worker} {why}")
        self._check_workers()
        # The scheduler estimates by this name how long a unit takes; other commands must not count.
        self._name = f"{getattr(work, '__name__', 'unit')}_{uuid4().hex}"
        # A task, not scattered data: if workers die, the scheduler can compute it again.
        self._shared = self._task(_bundle, uuid4().hex, requirements, work, shared)
        with self._explained_errors(), suppress(KeyError):  # a worker may leave meanwhile
            self._client.replicate([self._shared])  # otherwise all units would go to the one worker that has it

    def submit(self, unit: Unit) -> Any:
        """Start a unit of work on a worker, and return the future of its result."""
        return self._task(_run_unit, self._shared, unit)

    def _task(self, function: Callable[..., Any], *arguments: object) -> Any:
        with self._explained_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            key = f"{self._name}-{uuid4().hex}"
            return self._client.submit(function, *arguments, key=key, pure=False)

    def finished(self, futures: Collection[Any]) -> Collection[Any]:
        """Wait until a future has ended or a second has passed; return those that have ended."""
        from distributed import wait

        with self._explained_errors():
            if time.monotonic() - self._checked_s > _POLL_S:
                self._check_workers()
            try:
                ended: Collection[Any] = wait(list(futures), _POLL_S, "FIRST_COMPLETED").done  # type: ignore[no-untyped-call]
            except TimeoutError:
                return ()
            return ended

    def result(self, future: Any) -> Any:
        """Return the result of a future that has ended, or raise the error of its unit of work.

        Raises:
            WorkerDied: the workers that ran it died.
            ClusterUnavailable: the scheduler no longer answers, or has no worker.
        """
        from distributed import KilledWorker

        while True:
            try:
                return future.result(FETCH_S)
            except KilledWorker as error:
                raise WorkerDied(f"the last of them at {error.last_worker.address}") from error
            except CancelledError as error:
                raise self._lost() from error
            except TimeoutError:
                if future.status == "error":
                    raise
                with self._explained_errors():  # the result may be lost with its worker, and has to be computed again
                    self._check_workers()

    def close(self) -> None:
        """Start no more units of work. Workers finish the running ones, but nobody waits for them."""
        self._marks.close()
        self._client.loop.asyncio_loop.set_exception_handler(_report_loop_error)
        self._client.close()

    def _check_workers(self) -> None:
        self._checked_s = time.monotonic()
        if threads := sum(self._client.nthreads().values()):
            self.at_once = 2 * threads
            self._last_worker_s = self._checked_s
        elif self._checked_s - self._last_worker_s > WITHOUT_WORKER_S:
            raise ClusterUnavailable(
                f"the scheduler at {self._address} has had no worker for {WITHOUT_WORKER_S:.0f} s: start some with "
                f"`dask worker {self._address}`, and begin again"
            )

    @contextmanager
    def _explained_errors(self) -> Iterator[None]:
        """Turn errors of a request to the scheduler into `ClusterUnavailable`."""
        try:
            with self._client.as_current():
                yield
        except ClusterUnavailable:
            raise
        except (CancelledError, OSError) as error:
            raise self._lost() from error

    def _lost(self) -> ClusterUnavailable:
        return ClusterUnavailable(
            f"the scheduler at {self._address} no longer answers: start it again, then repeat the command"
        )


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        raise ClusterUnavailable('a cluster needs Dask: pip install "reelrank[dask]", on its workers too') from error
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)  # errors that a person can act on are raised here

    class WholeOrClosed(Client):
        def start(self, **options: Any) -> None:
            try:
                super().start(**options)  # type: ignore[no-untyped-call]
            except BaseException:
                # Or the garbage collector would close it, perhaps while Dask holds the lock that this needs.
                self.close()  # type: ignore[no-untyped-call]
                raise

    return WholeOrClosed(address, timeout=CONNECT_S, set_as_default=False)  # type: ignore[no-untyped-call]


def _requirements(marks: ExitStack, sees: Collection[Path], fills: Collection[Path]) -> Iterator[Requirement]:
    """Yield the paths that a worker has to see, each file with its size in bytes.

    These are the paths of `sees`, and a new marker file in each folder of `fills`. The marker files are removed when
    `marks` is closed.
    """
    for path in (*sees, *fills):
        if not path.is_absolute():
            raise ClusterUnavailable(
                f"{path} means a different place on each machine of a cluster: give its whole path"
            )
    for path in dict.fromkeys(fills):
        yield marks.enter_context(NamedTemporaryFile(dir=path, prefix=temporary_prefix())).name, 0  # noqa: SIM115
    for path in dict.fromkeys(sees):
        if path.exists():  # a missing file is reported by the unit that needs it
            yield str(path), None if path.is_dir() else path.stat().st_size


def _shortcoming(version: str, requirements: Collection[Requirement]) -> str:
    """Return what this process, a worker, lacks for the work; "" if nothing."""
    if version != __version__:
        return f"has ReelRank {__version__}, but this machine has {version}: install the same version on all machines"
    for path, size in requirements:
        try:
            size_here = os.stat(path).st_size
        except OSError:
            size_here = -1
        if size_here < 0 or (size is not None and size_here != size):
            folder = str(Path(path).parent) if Path(path).name.startswith(OURS) else path
            return (
                f"does not see {folder} as this machine does: share the folders of a project and of its videos "
                "with all machines, at the same paths"
            )
    return ""


def _report_loop_error(loop: AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report errors of Dask's event loop, except the harmless ones that occur because the loop ends.

    When the loop ends, a pause or a wait for several units in it may time out.
    """
    from distributed.client import AllExit

    if not isinstance(context.get("exception"), TimeoutError | AllExit):
        loop.default_exception_handler(context)


def _bundle(*carried: object) -> tuple[object, ...]:
    return carried


def _run_unit(carried: tuple[str, Collection[Requirement], Callable[[Any, Any], Any], Any], unit: object) -> Any:
    """Run a unit of work in this worker, and return its result.

    `carried` is the same for all units: an id, the paths that the worker has to see, the function to call, and the data
    shared by all units. Before its first unit, the worker checks its version of ReelRank and that it sees these paths,
    because it may have joined the cluster after the work began.
    """
    key, requirements, work, shared = carried
    if key not in _seen:
        if why := _shortcoming(__version__, requirements):
            raise ClusterUnavailable(f"a worker, {gethostname()}, {why}")
        _seen.add(key)
    return work(shared, unit)
