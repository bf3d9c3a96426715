"""`--jobs` and `--cluster`: where there is one of them there is the other, and the documents say where."""

from collections.abc import Iterator
from pathlib import Path

from backend import cli

OPERATIONS = (Path(__file__).parents[2] / "docs" / "operations.md").read_text("utf-8")


def commands(group: object, names: tuple[str, ...] = ()) -> Iterator[tuple[str, set[str]]]:
    """Every command, and its options."""
    if below := getattr(group, "commands", None):
        for name, command in below.items():
            yield from commands(command, (*names, name))
    else:
        yield " ".join(names), {option for one in group.params for option in one.opts}  # type: ignore[attr-defined]


def test_commands_have_both_options_or_none_and_are_named() -> None:
    found = dict(commands(cli.command()))
    assert "--cluster" in found["clips queued"]
    both = {name for name, options in found.items() if "--cluster" in options}
    assert both == {name for name, options in found.items() if "--jobs" in options}
    told = OPERATIONS[OPERATIONS.index("**Several machines.**") :]
    told = " ".join(told[: told.index("have both options")].split())
    assert both == {name for name in found if f"`{name.removesuffix(' queued')}`" in told}
