"""Options that several commands share, and how a command declares its own."""

import os
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from backend.campaign.setup.project.places import remove_leftovers
from backend.cli.output import tell_freed
from backend.core.addresses import Place
from backend.core.where import Where


def option(usage: str, help_text: str, **rest: Any) -> Any:
    """Return a command-line option, such as `--out FILE`.

    Args:
        usage: the option's name, and the word for its value (its metavar), as the help shows them.
        help_text: what the option is for.
        rest: further arguments for `typer.Option`.
    """
    name, _, metavar = usage.partition(" ")
    return typer.Option(name, metavar=metavar or None, help=help_text, **rest)


def argument(metavar: str, help_text: str, **rest: Any) -> Any:
    """Return a command-line argument; `metavar` is its name in the help, and `rest` goes to `typer.Argument`."""
    return typer.Argument(metavar=metavar, help=help_text, **rest)


def list_option(
    usage: str,
    help_text: str,
    convert: Callable[[str], object] = float,
    *,
    split: Callable[[str], Sequence[str]] | None = None,
    unique: bool = True,
) -> Any:
    """Return an option that merges its values if it is repeated: `--k 10,20 --k 40` is `--k 10,20,40`.

    Args:
        usage: the option's name, and the word for its value (its metavar): `--k K,K`.
        help_text: what the option is for.
        convert: converts a text to a value; raises `ValueError` if it cannot.
        split: splits the text into values; None splits it at every comma.
        unique: whether repeated values are dropped.
    """

    def parse(text: object) -> list[object]:
        written = str(text)
        parts = [part.strip() for part in (written.split(",") if split is None else split(written))]
        if convert is str and not all(parts):
            raise typer.BadParameter(f"{written!r} has an empty value: write values with one comma between them")
        try:
            return [convert(part) for part in parts]
        except ValueError:
            raise typer.BadParameter(f"{written!r} is not a list of numbers such as 10,20,40") from None

    def merge(ctx: typer.Context, value: list[list[object]] | None) -> list[object] | None:
        if value is None or ctx.resilient_parsing:
            return None
        merged = [item for part in value for item in part]
        return list(dict.fromkeys(merged)) if unique else merged

    return option(usage, help_text, parser=parse, callback=merge)


def typed(text: str) -> Any:
    """Return a default for a list option, given as the user would type it, such as `10,20`."""
    return (text,)


def _tidied(folder: Path) -> Path:
    remove_leftovers(folder)
    tell_freed()
    return folder


Dir = Annotated[Path, argument("DIR", "The project folder.", callback=_tidied)]
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


AnyPlace = TypeVar("AnyPlace", Path, Place)


def whole(place: AnyPlace, cluster: str | None) -> AnyPlace:
    """Return a path that all machines that do the work can find.

    With a cluster, a local path becomes absolute. Without one, the path stays as it is.
    """
    return place.absolute() if isinstance(place, Path) and cluster is not None else place


def where(jobs: int | None, cluster: str | None, *, usual: int | None = None) -> Where:
    """Return where to run the work: on the cluster, or in `jobs` processes of this machine.

    Without both options it runs in `usual` processes, or in one per core. Both together are wrong usage.
    """
    if jobs is not None and cluster is not None:
        raise typer.BadParameter("does not go with --cluster: leave one of them out", param_hint="--jobs")
    return Where(jobs or usual or os.cpu_count() or 1, cluster)


def where_if_given(jobs: int | None, cluster: str | None) -> Where | None:
    """Return where to run the work, on the cluster or in `jobs` processes; None if the user chose neither."""
    return None if jobs is None and cluster is None else where(jobs, cluster)


def day_of(text: str | None, option: str) -> str | None:
    """Return the day that the user gave, as `2026-03-14`; None stays None. A text that is no day is wrong usage."""
    try:
        return None if text is None else date.fromisoformat(text).isoformat()
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a day such as 2026-03-14", param_hint=option) from None
