"""Writes docs/commands.md from the commands themselves: `make docs`. A test compares the two."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from backend import cli

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = """# Commands

Generated from `backend/cli/` by `make docs`; do not edit. `reelrank COMMAND --help` says the same. Every command exits
with 0 (fine), 1 (refused, with a message) or 2 (wrong usage). [The pipeline](pipeline.md) says in which order
they are used.
"""


def page() -> str:
    """The page as it should be."""
    root = cli.command()
    assert isinstance(root, TyperGroup)
    return "\n".join([HEAD, *(_told(name, command) for name, command in sorted(_all(root)))])


def _all(group: TyperGroup, before: str = "") -> Iterator[tuple[str, TyperCommand]]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _all(command, f"{before}{name} ")
        elif isinstance(command, TyperCommand):
            yield before + name, command


def _told(name: str, command: TyperCommand) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    usage = " ".join(["reelrank", name, *(one.metavar or one.human_readable_name.upper() for one in arguments)])
    about = [" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n")]
    shown = [_example(part) for part in about]
    words = [f"- `{one.metavar or one.human_readable_name.upper()}`: {_plain(one.help)}" for one in arguments]
    return "\n\n".join(filter(None, [f"## `{usage}`", *shown, "\n".join(words), _options(command)])).rstrip() + "\n"


def _example(part: str) -> str:
    head, example, rest = part.partition("Example: ")
    return f"{head}```sh\n{rest}\n```" if example else part


def _options(command: TyperCommand | TyperGroup) -> str:
    context = command.make_context("reelrank", [], resilient_parsing=True)
    told = [one.get_help_record(context) for one in command.params if isinstance(one, TyperOption)]
    rows = [f"| `{_plain(names)}` | {_plain(words)} |" for names, words in filter(None, told)]
    return "\n".join(["| option | |", "| --- | --- |", *rows]) + "\n" if rows else ""


def _plain(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "").replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
