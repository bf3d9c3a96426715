"""Options that several commands share, and how a command declares its own."""

import os
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from backend.core.addresses import Place
from backend.core.where import Where


def option(usage: str, help_text: str, **rest: Any) -> Any:
    """Return an option from its name with what stands for its value in the help: `--out FILE`."""
    name, _, metavar = usage.partition(" ")
    return typer.Option(name, metavar=metavar or None, help=help_text, **rest)


def argument(metavar: str, help_text: str, **rest: Any) -> Any:
    """Return an argument from what stands for it in the help."""
    return typer.Argument(metavar=metavar, help=help_text, **rest)


def list_option(
    usage: str,
    help_text: str,
    of: Callable[[str], object] = float,
    *,
    split: Callable[[str], Sequence[str]] | None = None,
    unique: bool = True,
) -> Any:
    """Return an option whose values are merged: `--k 10,20 --k 40` is `--k 10,20,40`.

    Args:
        usage: its name with what stands for the value in the help: `--k K,K`.
        help_text: what the option is for.
        of: makes a value of its text; raises `ValueError` if the text is none.
        split: takes a text apart where a comma is not always between two values.
        unique: whether a value that is there already is dropped.
    """

    def parse(text: object) -> list[object]:
        given = str(text)
        parts = [part.strip() for part in (given.split(",") if split is None else split(given))]
        if of is str and not all(parts):
            raise typer.BadParameter(f"{given!r} has an empty value: write values with one comma between them")
        try:
            return [of(part) for part in parts]
        except ValueError:
            raise typer.BadParameter(f"{given!r} is not a list of numbers such as 10,20,40") from None

    def merge(ctx: typer.Context, value: list[list[object]] | None) -> list[object] | None:
        if value is None or ctx.resilient_parsing:
            return None
        merged = [one for part in value for one in part]
        return list(dict.fromkeys(merged)) if unique else merged

    return option(usage, help_text, parser=parse, callback=merge)


def typed(text: str) -> Any:
    """Return the default of a list option as somebody would type it, which is how the help shows it."""
    return (text,)


Dir = Annotated[Path, argument("DIR", "The project folder.")]
Json = Annotated[bool, option("--json", "Print JSON and nothing else.")]
FirstDay = Annotated[str | None, option("--from DAY", "First day, such as 2026-03-01.")]
LastDay = Annotated[str | None, option("--to DAY", "Last day (included).")]
EncoderOption = Annotated[
    str | None,
    option("--encoder NAME", "Sentence encoder: a model hub name, a local folder, or 'minilm' (works offline)."),
]
KindOption = Annotated[
    str | None,
    option(
        "--encoder-kind sup|unsup",
        "For a SimCSE model whose name does not say it: trained with or without supervision.",
    ),
]
ScaleOption = Annotated[
    str | None,
    option(
        "--scale NAME|FILE",
        "Grades to use instead of TVR-Ranking's 0 to 4: 'matches' (does not match, matches), or a TOML file.",
    ),
]
Jobs = Annotated[
    int | None, option("--jobs N", "Number of processes. Default: one per core. The results are the same.", min=1)
]
EncodingJobs = Annotated[
    int | None,
    option(
        "--jobs N", "Number of encoding processes, each with its own model. Default: one, which uses all cores.", min=1
    ),
]
ScoringJobs = Annotated[
    int | None,
    option(
        "--jobs N",
        "Number of processes that read and score runs. Default: one, which is faster for few or small runs.",
        min=1,
    ),
]
Cluster = Annotated[
    str | None, option("--cluster ADDRESS", "Use the Dask cluster whose scheduler is at tcp://HOST:PORT instead.")
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


def day_of(text: str | None, option: str) -> str | None:
    """A day as it is written everywhere, `2026-03-14`; wrong usage of this option if it is none."""
    try:
        return None if text is None else date.fromisoformat(text).isoformat()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a day such as 2026-03-14", param_hint=option) from None
