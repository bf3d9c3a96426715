"""Clips before people ask for them, and one clip of any video: `reelrank clips`, `reelrank clip`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, now, progress_bar, say, seconds, table
from backend.ground.progress import named


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("clips")(clips)
    app.command("clip")(clip)


def clips(
    folder: Dir,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Processes that cut; all cores unless told.", show_default=False),
    ] = None,
    next_: Annotated[
        bool, typer.Option("--next", help="Also those of each query's next batch, which a lead may open.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Also those of every candidate.")] = False,
) -> None:
    """Cut the clips of all pairs that wait for grades, before anybody waits for them.

    Those that are wanted first come first. It may be stopped and begun again, and the server may be running.

    Example: reelrank clips my-project --workers 4
    """
    start = now()
    project = api.open_project(folder)
    processes = workers or os.cpu_count() or 1
    with progress_bar() as progress:
        report = api.cut_queued_clips(
            project,
            api.OPERATOR,
            next_batches=next_,
            everything=all_,
            workers=processes,
            progress=named(progress, "Cutting clips"),
        )
    told = report.clips
    wanted = told.there + told.cut + told.left + len(told.failed)
    if wanted == 0 and not report.without_file:
        say("Nothing is queued: no pair waits for grades.")
        return
    counts = f"{told.there:,} were there, {told.cut:,} were cut, {len(told.failed):,} failed"
    say(f"{wanted:,} clips: {counts} ({seconds(start)}).")
    if told.left:
        say(
            f"{told.left:,} more have no room in cache/clips; they are cut when somebody asks for them. "
            "`cache_gb` under [clips] in reelrank.toml says how much is kept."
        )
    if report.without_file:
        say(f"No file is known of {', '.join(report.without_file)}: import again with --videos FOLDER.")
    rows = [(job.source.name, f"{job.start_s:.2f}-{job.end_s:.2f}", why) for job, why in (*told.failed, *told.warned)]
    if rows:
        say("")
        table(("video", "seconds", "what is wrong"), rows, left=(True, False, True))
    if told.failed or report.without_file:
        raise typer.Exit(1)


def clip(
    video: Annotated[
        Path,
        typer.Argument(metavar="VIDEO", help="A video file, or a folder of 3 frames a second.", show_default=False),
    ],
    start: Annotated[float, typer.Argument(metavar="START", help="In seconds.", show_default=False)],
    end: Annotated[float, typer.Argument(metavar="END", help="In seconds, exclusive.", show_default=False)],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The clip to write: .mp4, .webm or .gif.", show_default=False)
    ],
) -> None:
    """Cut one exact moment: the frames with START <= time < END.

    What OUT ends in says of what kind the clip is: .mp4 (H.264 and AAC, which every browser plays), .webm (VP9 and
    Opus, free of patents), .gif (for slides and papers: silent, at most 360 lines and 12.5 frames a second).

    Example: reelrank clip episode.mkv 63.47 77.42 moment.mp4
    """
    report = api.cut(video, start, end, out)
    for warning in report.warnings:
        say(f"Warning: {warning}")
    say(f"{out}: {report.frames} frames, {report.duration_s:.3f} s")
