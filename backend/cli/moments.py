"""Videos and moments without annotation files: `reelrank moments`."""

from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, now, progress_bar, say, seconds


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("moments")(moments)


def moments(
    folder: Dir,
    videos: Annotated[
        Path | None,
        typer.Option("--videos", metavar="FOLDER", help="Take the videos of this folder.", show_default=False),
    ] = None,
) -> None:
    """Take the videos of a folder into a project that has no annotation file.

    What cannot be read is listed with its reason, and everything else is taken.

    Example: reelrank moments my-project --videos my-videos
    """
    start = now()
    project = api.open_project(folder)
    if videos is None:
        raise typer.BadParameter("name the folder of the videos", param_hint="--videos")
    with progress_bar() as progress:
        found = api.register_videos(project, api.OPERATOR, videos, now=start, progress=progress)
    again = f", {len(found.videos) - found.new:,} were there before" if len(found.videos) > found.new else ""
    say(f"{found.new:,} new videos from {videos.name}{again} ({seconds(start)}).")
    for problem in found.problems:
        say(f"Not taken: {problem}")
