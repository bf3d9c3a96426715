"""Commands about kept ground truths and runs: `reelrank truths` and `reelrank runs`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, Json, json_text, minute, now, progress_bar, say, table

Name = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="What to call it; by default the name of the file.")
]
Kept = Annotated[str, typer.Argument(metavar="NAME", help="Its name in the list.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    truths = typer.Typer(help="Ground truths that the project keeps.", no_args_is_help=True, rich_markup_mode=None)
    truths.command("add")(add_truth)
    truths.command("list")(list_truths)
    truths.command("remove")(remove_truth)
    app.add_typer(truths, name="truths")
    runs = typer.Typer(help="Runs that the project keeps.", no_args_is_help=True, rich_markup_mode=None)
    runs.command("add")(add_run)
    runs.command("list")(list_runs)
    runs.command("remove")(remove_run)
    app.add_typer(runs, name="runs")


def add_truth(
    folder: Dir,
    file: Annotated[
        Path, typer.Argument(metavar="FILE|DIR", help="A truth file of any form, or a release.", show_default=False)
    ],
    name: Name = None,
) -> None:
    """Check a ground truth file as a whole and keep it in the project.

    Example: reelrank truths add my-project val.json --name tvr-val
    """
    with progress_bar() as report:
        report(f"reading {file.name}", 0, 1)
        kept = api.add_truth(api.open_project(folder), api.OPERATOR, file, name=name, now=now())
        report(f"reading {file.name}", 1, 1)
    say(f"Kept {kept.name}: {kept.queries:,} queries, {kept.moments:,} graded moments.")


def add_run(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A run file of any form.", show_default=False)],
    name: Name = None,
    videos: Annotated[
        Path | None,
        typer.Option("--videos", metavar="MAP|DIR", help="name -> [duration, index], or a release, for indices."),
    ] = None,
) -> None:
    """Check a run file as a whole and keep it in the project.

    Example: reelrank runs add my-project conquer.json --videos video_corpus.json
    """
    with progress_bar() as report:
        report(f"reading {file.name}", 0, 1)
        kept = api.add_run(api.open_project(folder), api.OPERATOR, file, name=name, videos=videos, now=now())
        report(f"reading {file.name}", 1, 1)
    say(f"Kept {kept.name}: {kept.queries:,} queries, {kept.moments:,} predictions.")


def list_truths(folder: Dir, json: Json = False) -> None:
    """List the ground truths that the project keeps.

    Example: reelrank truths list my-project
    """
    _list(api.list_truths(api.open_project(folder), api.OPERATOR), json)


def list_runs(folder: Dir, json: Json = False) -> None:
    """List the runs that the project keeps.

    Example: reelrank runs list my-project
    """
    _list(api.list_runs(api.open_project(folder), api.OPERATOR), json)


def remove_truth(folder: Dir, name: Kept) -> None:
    """Remove a kept ground truth; the event log remembers that it was there.

    Example: reelrank truths remove my-project tvr-val
    """
    kept = api.remove_truth(api.open_project(folder), api.OPERATOR, name, now=now())
    say(f"Removed {kept.name}, made of {kept.file}.")


def remove_run(folder: Dir, name: Kept) -> None:
    """Remove a kept run; the event log remembers that it was there.

    Example: reelrank runs remove my-project conquer
    """
    kept = api.remove_run(api.open_project(folder), api.OPERATOR, name, now=now())
    say(f"Removed {kept.name}, made of {kept.file}.")


def _list(kept: "list[api.Kept]", json: bool) -> None:
    if json:
        say(json_text([asdict(one) for one in kept]))
        return
    rows = [
        (one.name, f"{one.queries:,}", f"{one.moments:,}", one.file, one.sha256[:12], minute(one.added_at))
        for one in kept
    ]
    table(("name", "queries", "moments", "file", "sha256", "added"), rows)
