"""Register commands and groups of commands, and list them in the help."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup


class CommandGroup(TyperGroup):
    """A group of commands, whose help shows the first sentence of each command.

    `default` is the command that runs if the user names none; empty if one has to be named. `sections` maps each
    heading of the help to the names of the commands below it; empty for a single list.
    """

    default: ClassVar[str] = ""
    sections: ClassVar[Mapping[str, Sequence[str]]] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command if the user names none.

        If the first word names a folder and only options follow, it is the default command's argument, even if a
        command has the same name.
        """
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


class Command(TyperCommand):
    """A command with options that take several files each; the help marks such an option with `...`.

    So a user may write `--run *.json`, which a shell expands to several files.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; an option that the help marks with `...` is first repeated before each of its files."""
        for parameter in self.params:
            if str(getattr(parameter, "metavar", "")).endswith(" ..."):
                args = spread(args, parameter.opts[0])
        return super().parse_args(ctx, args)


def spread(args: Sequence[str], option: str) -> list[str]:
    """Repeat an option before each of its values.

    >>> spread(["--run", "a.json", "b=c.json", "--k", "5"], "--run")
    ['--run', 'a.json', '--run', 'b=c.json', '--k', '5']
    """
    repeated: list[str] = []
    needs_value = within = False
    for arg in args:
        if within and not needs_value and not arg.startswith("-"):
            repeated += [option, arg]
            continue
        if not needs_value:
            within = arg == option or arg.startswith(f"{option}=")
        needs_value = arg == option
        repeated.append(arg)
    return repeated


SECTIONS = {
    "Start": ("demo", "init", "serve", "status"),
    "Build": ("import", "videos", "moments", "describe", "probe", "stats", "cast", "rewrite", "queries", "candidates"),
    "Run a campaign": (
        *("users", "guideline", "tutorial", "trial", "exam", "gold", "clips", "batches", "agreement", "consensus"),
        *("judge", "webhooks", "import-judgements"),
    ),
    "Release": ("export", "pseudo-train", "releases", "diff", "validate", "import-release"),
    "Evaluate": ("evaluate", "match-run", "truths", "runs"),
    "Operate": ("doctor", "backup", "restore", "migrate", "move", "split", "join"),
    "Research": ("baseline", "features", "train", "predict", "measures", "mvmr", "plan", "replay"),
}
"""The commands in working order."""

FORMER_NAMES = {
    "clip": "clips moment",
    "flags": "users flags",
    "hours": "users hours",
    "log": "status log",
    "probe-figures": "batches depth",
    "settings": "status settings",
    "terms": "releases terms",
}
"""Former names of commands, which keep working."""


class ReelRank(CommandGroup):
    """The group of all commands; it also finds a command by its former name."""

    sections = SECTIONS

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its current or former name; None if there is none."""
        group, _, name = FORMER_NAMES.get(cmd_name, cmd_name).partition(" ")
        command: Any = super().get_command(ctx, group)
        return command.commands[name] if name else command


app = typer.Typer(
    cls=ReelRank,
    help="Turn videos with captioned moments into graded ground truth, and score runs. "
    "`reelrank COMMAND --help` explains a command, with an example.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)


def add_command(name: str, to: typer.Typer = app) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds a function as a command of this name to `to`, by default the whole command line."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        to.command(name, cls=Command)(with_options(function))
        return function

    return add


def add_group(
    name: str, about: str, example: str, commands: Mapping[str, Callable[..., None]], default: str = ""
) -> None:
    """Add a group of commands to the command line.

    Args:
        name: the name of the group.
        about: one sentence for `reelrank --help`.
        example: what follows the name in an example, such as `add my-project Ana --role annotator`.
        commands: the function of each command by its name.
        default: the command that runs if none is named; empty if one has to be named.
    """
    cls = type("Group", (CommandGroup,), {"default": default})
    text = f"{about}\n\nExample: reelrank {name} {example}"
    group = typer.Typer(cls=cls, help=text, no_args_is_help=True, rich_markup_mode=None)
    for command_name, function in commands.items():
        add_command(command_name, group)(function)
    app.add_typer(group, name=name)


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is a dataclass by one command-line option for each field of the dataclass.

    The returned command builds the dataclasses from its options and passes them to the function. A function without
    such parameters is returned unchanged.
    """
    parameters = inspect.signature(function).parameters.values()
    groups: dict[str, Any] = {part.name: part.annotation for part in parameters if is_dataclass(part.annotation)}
    if not groups:
        return function
    lists = [
        inspect.signature(part.annotation).parameters.values() if part.name in groups else [part] for part in parameters
    ]
    options = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in lists for option in part]

    def command(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return command
