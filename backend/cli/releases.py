"""Commands about releases that somebody hands on: validate."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend import api
from backend.cli.output import Json, now, progress_bar, say, seconds

SHOWN = 50
"""So many problems are printed; --json has up to 1,000."""
ReleaseArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder of a release, or its zip.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("validate")(validate)


def validate(release: ReleaseArgument, json: Json = False) -> None:
    """Look through a release in the form of TVR-Ranking, anybody's, and name everything that is wrong with it.

    Hashes, shapes, times, videos, pairs, splits, training sets; and whether the grades give the relevances.

    Example: reelrank validate release-1
    """
    start = now()
    with progress_bar() as progress:
        report = api.validate_release(release, progress=progress)
    if json:
        say(msgspec.json.encode({"clean": report.clean, **msgspec.to_builtins(report)}).decode())
    else:
        for problem in report.problems[:SHOWN]:
            say(str(problem))
        if report.count > SHOWN:
            say(f"... and {report.count - SHOWN:,} more problems")
        for told in report.checked:
            say(f"Checked: {told}.")
        for told in report.not_checked:
            say(f"Not checked: {told}.")
        say(f"{release}: {f'{report.count:,} problems' if report.count else 'nothing is wrong'} ({seconds(start)}).")
    raise typer.Exit(0 if report.clean else 1)
