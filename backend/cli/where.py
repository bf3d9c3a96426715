"""Options of a command that does many independent pieces of work."""

import os
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from backend.core.addresses import Place
from backend.core.where import Where

Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        help="Number of processes. Default: one per core. The results are the same.",
        show_default=False,
    ),
]
EncodingJobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        help="Number of encoding processes, each with its own model. Default: one, which uses all cores.",
        show_default=False,
    ),
]
ScoringJobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        help="Number of processes that read and score runs. Default: one, which is faster for few or small runs.",
        show_default=False,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster", metavar="ADDRESS", help="Use the Dask cluster whose scheduler is at tcp://HOST:PORT instead."
    ),
]


Lies = TypeVar("Lies", Path, Place)


def whole(place: Lies, cluster: str | None) -> Lies:
    """A place as all machines of a cluster find it; here, as it was given."""
    return place.absolute() if isinstance(place, Path) and cluster is not None else place


def where(jobs: int | None, cluster: str | None, *, usual: int | None = None) -> Where:
    """Where the pieces are done that somebody asked for with these options; `usual` processes, or one a core."""
    if jobs is not None and cluster is not None:
        raise typer.BadParameter("a cluster has its own processes; leave one of the two out", param_hint="--jobs")
    return Where(jobs or usual or os.cpu_count() or 1, cluster)


def where_told(jobs: int | None, cluster: str | None) -> Where | None:
    """The same; None where nobody asked, and the work knows best."""
    return None if jobs is None and cluster is None else where(jobs, cluster)
