"""Options that take a list: values separated by commas, given once or several times."""

from collections.abc import Callable, Sequence
from typing import Any

import typer


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
