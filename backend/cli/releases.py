"""Commands about releases that somebody hands on: validate, import-release."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from backend import api
from backend.cli.output import EncoderOption, Json, KindOption, now, progress_bar, say, seconds

SHOWN = 50
"""So many problems are printed; --json has up to 1,000."""
ReleaseArgument = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="The folder of a release, or its zip.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("validate")(validate)
    app.command("import-release")(import_release)


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


def import_release(
    release: ReleaseArgument,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new project folder.", show_default=False)],
    encoder: EncoderOption = None,
    kind: KindOption = None,
    json: Json = False,
) -> None:
    """Make a project of a release, so that it can be looked at, gone on with and released again.

    A release of the project says the same: truth, grades, pairs, training sets. What no release says does not come
    back: names of people, candidates that were not handed out, where queries were drawn from. --encoder is set where
    the release does not name one.

    Example: reelrank import-release release-1.zip again
    """
    start = now()
    with progress_bar() as progress:
        report = api.import_release(release, folder, encoder=encoder, kind=kind, now=start, progress=progress)
    if json:
        say(msgspec.json.encode(report).decode())
        return
    splits = ", ".join(f"{count:,} {split}" for split, count in report.queries.items())
    judged = report.judgements
    say(f"{folder} is a project now ({seconds(start)}): queries {splits}; {report.moments:,} moments.")
    say(
        f"{judged.rows:,} grades of {judged.pairs:,} pairs by {judged.workers} people, who are numbers here; "
        f"{judged.consensus:,} in consensus, {judged.discarded:,} discarded, {report.adjudicated:,} decided by a lead."
    )
    if report.blocked:
        say(f"{report.blocked:,} pairs had a clip that could not be shown, and wait for a lead (page Disagreements).")
    if report.training_lists:
        say(f"The lists of {report.training_lists:,} training queries are those of the release.")
    say(f"{report.videos:,} videos have no file yet: `reelrank import {folder} FILE --videos FOLDER` shows them.")
