"""Where independent units of work run: in this process, in several, or on a cluster."""

from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

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
