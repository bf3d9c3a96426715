"""Where many independent pieces of work are done, and what does them there."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

Unit_contra = TypeVar("Unit_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Where:
    """In so many processes of this machine, or by the workers of a cluster; with one job, in this process.

    Attributes:
        jobs: processes, from 1. A cluster has its own.
        cluster: the address of a Dask scheduler, such as `tcp://scheduler:8786`.
    """

    jobs: int = 1
    cluster: str | None = None


HERE = Where()


@runtime_checkable
class WorksSomewhere(Protocol):
    """What says itself where its work is done: a model that several processes load."""

    where: Where


def placed(thing: Thing, where: Where) -> Thing:
    """The same thing, whose work is done there from now on, if it can say so."""
    if isinstance(thing, WorksSomewhere):
        thing.where = where
    return thing


def where_of(thing: object) -> Where:
    """Where something's work is done; in this process, if it does not say.

    >>> where_of("a word")
    Where(jobs=1, cluster=None)
    """
    return thing.where if isinstance(thing, WorksSomewhere) else HERE


class WorkerDied(Exception):
    """The process that had a unit is gone. Whether the unit is to blame is not known."""


class Crew(Protocol, Generic[Unit_contra, Result_co]):
    """Several processes that do one kind of work; a unit is given in, and a future stands for what comes of it."""

    @property
    def at_once(self) -> int:
        """How many units may be given in at a time: no process waits, and few are begun in vain."""
        ...

    def submit(self, unit: Unit_contra) -> Any:
        """Give a unit in; its future."""
        ...

    def finished(self, futures: Collection[Any]) -> Collection[Any]:
        """Wait for one of these to end, well or not, or for a while; those that have ended."""
        ...

    def result(self, future: Any) -> Result_co:
        """What came of a unit that has ended; raises what the unit raised.

        Raises:
            WorkerDied: its process is gone.
        """
        ...

    def close(self) -> None:
        """Begin nothing more; what is under way here is waited for."""
        ...
