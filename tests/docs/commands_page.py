"""Writes docs/commands.md from the commands themselves: `make docs`. A test compares the two."""

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from backend import cli
from backend.cli import commands

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
HEAD = """# Commands

Every command with its arguments and options, in working order; `reelrank COMMAND --help` says the same. A command exits
with 0 (success), 1 (refused, or something is wrong, with a message) or 2 (wrong usage). [The pipeline](pipeline.md)
explains the stages. `make docs` writes this page from `backend/cli/`; do not edit it.
"""


def page() -> str:
    """The page as it should be."""
    root = cli.command()
    former = ", ".join(f"`{old}` (now `{new}`)" for old, new in commands.FORMER_NAMES.items())
    former = textwrap.fill(f"Former names still work: {former}.", 120) + "\n"
    contents, parts = [], []
    for section, names in commands.SECTIONS.items():
        contents.append(f"- [{section}](#{section.lower().replace(' ', '-')})")
        parts.append(f"## {section}\n")
        for name in names:
            told = [(path, _told(path, command)) for path, command in _all(name, root.commands[name])]
            links = [f"[`{path.removeprefix(f'{name} ')}`](#{_anchor(text)})" for path, text in told]
            about = root.commands[name].get_short_help_str(limit=1_000)
            contents.append(
                f"  - {', '.join(links)}: {about}" if len(told) == 1 else f"  - `{name}`: {about} {' '.join(links)}"
            )
            parts += [text for _, text in told]
    return "\n".join([HEAD, former, *contents, "", *parts])


def _all(name: str, command: object) -> Iterator[tuple[str, TyperCommand]]:
    if isinstance(command, TyperGroup):
        for below, one in command.commands.items():
            yield from _all(f"{name} {below}", one)
    elif isinstance(command, TyperCommand):
        yield name, command


def _anchor(text: str) -> str:
    """The anchor that GitHub gives to the heading that a text begins with."""
    heading = text.partition("\n")[0].removeprefix("### ").lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def _told(name: str, command: TyperCommand) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    usage = " ".join(["reelrank", name, *(one.metavar or one.human_readable_name.upper() for one in arguments)])
    about = [" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n")]
    shown = [_example(part) for part in about]
    words = [f"- `{one.metavar or one.human_readable_name.upper()}`: {_plain(one.help)}" for one in arguments]
    return "\n\n".join(filter(None, [f"### `{usage}`", *shown, "\n".join(words), _options(command)])).rstrip() + "\n"


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
