"""Clips before people ask for them, and one clip of any video: `reelrank clips`, `reelrank clip`."""

from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, now, progress_bar, say, seconds, table
from backend.cli.where import Cluster, Jobs, where, whole
from backend.ground.progress import named


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("clips")(clips)
    app.command("clip")(clip)


def clips(
    folder: Dir,
    jobs: Jobs = None,
    cluster: Cluster = None,
    next_: Annotated[
        bool, typer.Option("--next", help="Also those of each query's next batch, which a lead may open.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Also those of every candidate.")] = False,
) -> None:
    """Cut the clips of all pairs that wait for grades, before anybody waits for them.

    Those that are wanted first come first. It may be stopped and begun again, and the server may be running.
    What a bucket of clips has is not cut, and what it lacks is put there.

    Example: reelrank clips my-project --jobs 4
    """
    start = now()
    project = api.open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = api.cut_queued_clips(
            project,
            api.OPERATOR,
            next_batches=next_,
            everything=all_,
            where=where(jobs, cluster),
            progress=named(progress, "Cutting clips"),
        )
    told = report.clips
    wanted = told.there + told.shared + told.cut + told.left + len(told.failed)
    if wanted == 0 and not report.without_file:
        say("Nothing is queued: no pair waits for grades.")
        return
    shared = f"{told.shared:,} lay in the bucket, " if project.settings.clips.bucket else ""
    counts = f"{told.there:,} were there, {shared}{told.cut:,} were cut, {len(told.failed):,} failed"
    say(f"{wanted:,} clips: {counts} ({seconds(start)}).")
    if told.left:
        say(
            f"{told.left:,} more have no room in cache/clips; they are cut when somebody asks for them. "
            "`cache_gb` under [clips] in reelrank.toml says how much is kept."
        )
    if told.stored:
        say(f"{told.stored:,} that were there were put into the bucket, which lacked them.")
    for trouble in api.bucket_troubles(project, api.OPERATOR):
        say(trouble)
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
