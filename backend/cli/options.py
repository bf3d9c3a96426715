"""Options that several commands share, and how groups of commands work."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

import typer
from typer.core import TyperGroup

from backend.core.addresses import Place
from backend.core.where import Where


class CommandGroup(TyperGroup):
    """A group whose help shows the whole first sentence of every command, one line each."""

    default: ClassVar[str] = ""
    """The command that runs if none is named; empty: one has to be named."""
    sections: ClassVar[Mapping[str, Sequence[str]]] = {}
    """The headings of the list, each with the names of its commands; empty: one list of all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command where none is named; a lone word that names a folder is no command."""
        if self.default and args and args[0] != "--help":
            lone = len(args) == 1 or all(arg.startswith("-") for arg in args[1:])
            if args[0] not in self.commands or (lone and "--help" not in args and Path(args[0]).is_dir()):
                args = [self.default, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List the commands, and leave out `--help`, the only option of a group."""
        width = max(map(len, self.commands))
        formatter.write("\n")
        for heading, names in (self.sections or {"Commands": tuple(self.commands)}).items():
            formatter.write(f"{heading}:\n")
            for name in names:
                formatter.write(f"  {name:<{width}}  {self.commands[name].get_short_help_str(limit=1_000)}\n")
        if self.default:
            formatter.write(f"\nWithout a command, `{self.default}` runs.\n")


class ShowByDefault(CommandGroup):
    """A group of which `reelrank GROUP DIR` means `reelrank GROUP show DIR`."""

    default = "show"


def add_group(
    app: typer.Typer,
    name: str,
    about: str,
    example: str,
    commands: Mapping[str, Callable[..., None]],
    cls: type[CommandGroup] = CommandGroup,
) -> typer.Typer:
    """Add a group of commands to the command line.

    Args:
        app: the command line.
        name: the name of the group.
        about: one sentence, which `reelrank --help` shows.
        example: what an example has after the name, such as `add my-project Ana --role annotator`.
        commands: the function of each command by its name.
        cls: the class of the group.

    Returns:
        The group, for further commands.
    """
    text = f"{about}\n\nExample: reelrank {name} {example}"
    group = typer.Typer(cls=cls, help=text, no_args_is_help=True, rich_markup_mode=None)
    for command_name, command in commands.items():
        group.command(command_name)(command)
    app.add_typer(group, name=name)
    return group


def list_option(
    name: str,
    metavar: str,
    help_text: str,
    of: Callable[[str], object] = float,
    *,
    split: Callable[[str], Sequence[str]] | None = None,
    unique: bool = True,
) -> Any:
    """Return an option whose values are merged: `--k 10,20 --k 40` is `--k 10,20,40`.

    Args:
        name: such as `--k`.
        metavar: what stands for the value in the help, such as `K,K`.
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

    return typer.Option(name, metavar=metavar, help=help_text, parser=parse, callback=merge)


def typed(text: str) -> Any:
    """Return the default of a list option as somebody would type it, which is how the help shows it."""
    return [text]


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
