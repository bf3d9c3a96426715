"""Options that several commands share, and how groups of commands work."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from backend.core.addresses import Place
from backend.core.where import Where

if TYPE_CHECKING:
    from backend.scoring.run_files import RunList
    from backend.scoring.views.table import Shown


def option(usage: str, help_text: str, **rest: Any) -> Any:
    """Return an option from its name with what stands for its value in the help: `--out FILE`."""
    name, _, metavar = usage.partition(" ")
    return typer.Option(name, metavar=metavar or None, help=help_text, **rest)


def argument(metavar: str, help_text: str, **rest: Any) -> Any:
    """Return an argument from what stands for it in the help."""
    return typer.Argument(metavar=metavar, help=help_text, **rest)


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


NamedRuns = Annotated[list[str] | None, option("--run [NAME=]FILE ...", "A run, or several; may be repeated.")]
RunListFile = Annotated[
    Path | None, option("--runs FILE.toml", "A list of runs: model, variant, seed, split, file, and truths.")
]
Split = Annotated[str | None, option("--split NAME", "Only this split of the list of runs, or of a release.")]
Percent = Annotated[bool, option("--percent", "In percent, two digits; not in CSV and JSON.")]
Digits = Annotated[int | None, option("--digits N", "Digits after the point.", min=0, max=12)]
Caption = Annotated[str | None, option("--caption TEXT", "Of the LaTeX table, its first words.")]
Label = Annotated[str | None, option("--label NAME", "Of the LaTeX table, such as tab:runs.")]


class SeveralRuns(TyperCommand):
    """A command whose option --run takes every file up to the next option, as a shell's `runs/*.json` gives them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give each file its own --run."""
        return super().parse_args(ctx, spread(args))


def spread(args: Sequence[str], option: str = "--run") -> list[str]:
    """Each file after an option with an option of its own.

    >>> spread(["--run", "a.json", "b=c.json", "--k", "5"])
    ['--run', 'a.json', '--run', 'b=c.json', '--k', '5']
    """
    found: list[str] = []
    wanted = within = False
    for arg in args:
        if within and not wanted and not arg.startswith("-"):
            found += [option, arg]
            continue
        if not wanted:
            within = arg == option or arg.startswith(f"{option}=")
        wanted = arg == option
        found.append(arg)
    return found


def run_list(run: list[str] | None, runs: Path | None, split: str | None, truth: Path | None) -> "RunList":
    """The runs that were asked for, each split with its truth."""
    from backend.scoring.files.release_folder import choose_truth
    from backend.scoring.run_files import RunList, named_files, of_releases, read_run_list

    if (run is None) == (runs is None):
        raise typer.BadParameter("give runs with --run, or a list of them with --runs", param_hint="--run")
    for text in run or ():
        if text.endswith(".toml"):
            raise typer.BadParameter(f"{text} is a list of runs; give it with --runs", param_hint="--run")
    if runs is None:
        named = tuple(named_files(run or ()))
        if split is not None:
            if truth is None or not truth.is_dir():
                told = "is about a list of runs or a release; add --runs FILE.toml, or give --truth the folder of one"
                raise typer.BadParameter(told, param_hint="--split")
            chosen = choose_truth(truth, split=split)
            return RunList(named, truths={"": chosen.path}, videos=chosen.videos)
        return RunList(named, truths={"": truth} if truth else {})
    found = read_run_list(runs)
    if split is not None:
        if split not in found.splits:
            known = ", ".join(name for name in found.splits if name) or "none"
            raise typer.BadParameter(
                f"{split!r} is not a split of {runs.name}, which has {known}", param_hint="--split"
            )
        found = replace(found, runs=tuple(found.of(split)), splits=(split,))
    if truth is not None:
        if found.truths or (len(found.splits) > 1 and not truth.is_dir()):
            raise typer.BadParameter(f"the truth stands in {runs.name}; leave this out", param_hint="--truth")
        found = of_releases(replace(found, truths=dict.fromkeys(found.splits, truth)))
    return found


def writing(
    form: str,
    percent: bool,
    digits: int | None,
    caption: str | None,
    label: str | None,
    *,
    variant: str,
    intervals: bool,
    benchmark: str | None,
) -> "Shown":
    """How the scores are written; an option that a format would not heed is wrong usage."""
    from backend.scoring.views.table import Shown

    if form in ("csv", "json") and (percent or digits is not None):
        raise typer.BadParameter(
            f"{form.upper()} has shares in full", param_hint="--percent" if percent else "--digits"
        )
    if benchmark is not None and (percent or digits is not None):
        told = f"{benchmark} says itself how its figures are written"
        raise typer.BadParameter(told, param_hint="--percent" if percent else "--digits")
    if form != "latex" and (caption or label):
        raise typer.BadParameter("is of --format latex", param_hint="--caption" if caption else "--label")
    return Shown(percent, digits, caption or "", label or "", variant, intervals)


def require_one_split(given: "RunList", asked: dict[str, Path | None]) -> None:
    """Refuse what is of one truth alone where the list of runs has several."""
    for option, value in asked.items():
        if value is not None and len(given.splits) > 1:
            parts = ", ".join(given.splits)
            raise typer.BadParameter(f"is of one split; add --split with one of {parts}", param_hint=option)
