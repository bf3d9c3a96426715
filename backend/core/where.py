"""Say where independent units of work run: in this process, in several, or on a cluster."""

from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Where:
    """A place where units of work run: processes of this machine, or the workers of a cluster.

    Attributes:
        jobs: number of processes, from 1; with 1, units run in this process. A cluster has its own workers.
        cluster: the address of a Dask scheduler, such as `tcp://scheduler:8786`.
    """

    jobs: int = 1
    cluster: str | None = None


HERE = Where()


@runtime_checkable
class WorksSomewhere(Protocol):
    """An object with an attribute for where its work runs, such as a model that several processes load."""

    where: Where


def placed(thing: Thing, where: Where) -> Thing:
    """Set where an object's work runs, if the object has the attribute `where`, and return the object."""
    if isinstance(thing, WorksSomewhere):
        thing.where = where
    return thing


def where_of(thing: object) -> Where:
    """Return where an object's work runs; in this process if it does not say.

    >>> where_of("a word")
    Where(jobs=1, cluster=None)
    """
    return thing.where if isinstance(thing, WorksSomewhere) else HERE


class WorkerDied(Exception):
    """The process that ran a unit of work has died; the unit may or may not be the cause."""
