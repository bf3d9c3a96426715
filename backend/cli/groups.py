"""Groups of commands: how their help lists them, and which command a group runs if none is named."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperGroup


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
