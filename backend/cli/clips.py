"""Commands that cut clips: `reelrank clips DIR`, `reelrank clips moment VIDEO START END OUT`."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.groups import CommandGroup, add_group
from backend.cli.output import Dir, now, progress_bar, say, seconds, table
from backend.cli.where import Cluster, Jobs, where, whole
from backend.core.progress import named


class QueuedByDefault(CommandGroup):
    """`reelrank clips DIR` means `reelrank clips queued DIR`."""

    default = "queued"


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "clips",
        "Cut the clips of all queued pairs, or of one moment.",
        "my-project",
        {"queued": queued, "moment": moment},
        QueuedByDefault,
    )


def queued(
    folder: Dir,
    jobs: Jobs = None,
    cluster: Cluster = None,
    next_: Annotated[
        bool, typer.Option("--next", help="Also cut clips of each query's next batch, which a lead may open.")
    ] = False,
    all_: Annotated[bool, typer.Option("--all", help="Also cut clips of every candidate.")] = False,
) -> None:
    """Cut the clips of all pairs that wait for grades.

    Clips that are needed first are cut first. You can stop the command and run it again, also while the server
    runs. Clips that a clip bucket has are not cut, and those that it lacks are copied to it.

    Example: reelrank clips queued my-project --jobs 4, or for short: reelrank clips my-project --jobs 4
    """
    from backend.campaign.monitoring.progress.progress import bucket_troubles, cut_queued_clips

    start = now()
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = cut_queued_clips(
            project,
            OPERATOR,
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
    for trouble in bucket_troubles(project, OPERATOR):
        say(trouble)
    if report.without_file:
        say(f"No file is known of {', '.join(report.without_file)}: import again with --videos FOLDER.")
    rows = [(job.source.name, f"{job.start_s:.2f}-{job.end_s:.2f}", why) for job, why in (*told.failed, *told.warned)]
    if rows:
        say("")
        table(("video", "seconds", "what is wrong"), rows, left=(True, False, True))
    if told.failed or report.without_file:
        raise typer.Exit(1)


def moment(
    video: Annotated[
        Path,
        typer.Argument(metavar="VIDEO", help="A video file, or a folder of frames (3 per second).", show_default=False),
    ],
    start: Annotated[float, typer.Argument(metavar="START", help="Start in seconds.", show_default=False)],
    end: Annotated[float, typer.Argument(metavar="END", help="End in seconds, not included.", show_default=False)],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The clip to write: .mp4, .webm or .gif.", show_default=False)
    ],
) -> None:
    """Cut one exact moment: the frames with START <= time < END.

    The extension of OUT chooses the format: .mp4 (H.264 and AAC, which every browser plays), .webm (VP9 and Opus,
    free of patents) or .gif (silent, at most 360 lines and 12.5 frames a second, for slides and papers).

    Example: reelrank clips moment episode.mkv 63.47 77.42 moment.mp4
    """
    from backend.media.one_clip import cut

    report = cut(video, start, end, out)
    for warning in report.warnings:
        say(f"Warning: {warning}")
    say(f"{out}: {report.frames} frames, {report.duration_s:.3f} s")
