"""Commands for videos: `reelrank probe` checks them, `videos remove` removes them, `clips` cuts them."""

import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.corpus.importing.model import Trouble, VideoTrouble
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command, add_group
from backend.cli.options import Cluster, Dir, Jobs, Json, argument, option, where, where_if_given, whole
from backend.cli.output import counted, fail, json_text, now, progress_bar, say, say_each, seconds, table
from backend.core.progress import steps_of

DecodeOption = Annotated[
    bool | None,
    option(
        "--decode/--no-decode",
        "Decode every frame to find damage. Default: only in files up to 100 MB, where it is quick.",
    ),
]
FpsOption = Annotated[str, option("--frames-per-s N", "Frame rate of videos that are folders of frames; TVR has 3.")]


@add_command("probe")
def probe(
    folder: Dir,
    videos: Annotated[
        Path | None,
        option("--videos FOLDER", "Folder to search for missing videos. Default: the folders of the other videos."),
    ] = None,
    frames_per_s: FpsOption = "3",
    decode: DecodeOption = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    accept: Annotated[
        list[str] | None, option("--accept VIDEO", "Accept the new content of a video that has changed.")
    ] = None,
    json: Json = False,
) -> None:
    """Check every video file, and list the problems.

    Shows each video's length, frame rate, size and codec, and where its file is. A moved or renamed video is found
    by its content. Pairs whose video cannot be shown are not handed out until it can. The exit code is 1 if
    there is a problem.

    Example: reelrank probe my-project --decode
    """
    from backend.campaign.monitoring.videos.check import check_videos

    start = time.monotonic()
    fps = frame_rate(frames_per_s)
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = check_videos(
            project,
            OPERATOR,
            videos=whole(videos, cluster) if videos else None,
            fps=fps,
            decode=decode,
            where=where_if_given(jobs, cluster),
            accept=accept or (),
            now=now(),
            progress=progress,
        )
    if json:
        say(json_text([_plain(state) for state in report.videos]))
        raise typer.Exit(1 if report.wrong else 0)
    table(
        ("video", "file", "length", "frames/s", "size", "codec", "sound", "problem"),
        [_row(state) for state in report.videos],
        left=(True, True, False, False, False, True, True, True),
    )
    say("")
    for video, path in report.moved:
        say(f"Found again: {video} is at {path}.")
    say_each("Accepted the new content of {}. Grades of the earlier content stay.", report.accepted)
    if report.freed:
        say(f"{counted(report.freed, 'clip')} can be shown again.")
    for state in report.wrong:
        say(f"{state.video}: {state.advice}")
    if any(state.trouble is Trouble.MISSING for state in report.wrong):
        say("Use --videos FOLDER to name the folder of missing videos.")
    if any(state.trouble is Trouble.CHANGED for state in report.wrong):
        say("Use --accept VIDEO to accept the new content of a changed video.")
    undecoded(report.videos)
    wrong = f"{len(report.wrong):,} with a problem" if report.wrong else "no problems"
    say(f"{counted(len(report.videos), 'video')}, {wrong} ({seconds(start)}).")
    raise typer.Exit(1 if report.wrong else 0)


def frame_rate(text: str) -> Fraction:
    """Return the frame rate that the user gave: `3`, `2.5` or `24000/1001`; a text that is no rate is wrong usage."""
    try:
        rate = Fraction(text)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if rate <= 0:
        raise typer.BadParameter(f"{text!r} is not a number above 0 such as 3", param_hint="--frames-per-s")
    return rate


def print_problems(troubles: Sequence[VideoTrouble]) -> None:
    """Print the problems of imported videos; exit with code 1 if one cannot be shown."""
    for problem in troubles:
        if problem.trouble is Trouble.DAMAGED:
            say(f"Damaged: {problem.video}: {problem.message}")
    messages = [f"{problem.video}: {problem.message}" for problem in troubles if problem.trouble is not Trouble.DAMAGED]
    if messages:
        fail("\n".join([f"{counted(len(messages), 'video')} cannot be shown; the rest was imported:", *messages]))


def undecoded(videos: Sequence[VideoState]) -> None:
    """Print how many videos were not decoded, and the option that decodes them to find damage inside."""
    count = sum(state.shown and not state.decoded for state in videos)
    if count:
        say(f"The frames of {counted(count, 'video')} were not decoded. To find damage inside, add --decode.")


def _row(state: VideoState) -> tuple[str, ...]:
    facts: tuple[str, ...] = ("", "", "", "")
    if state.fps is not None:
        rate, size = f"{float(state.fps):.3f}".rstrip("0").rstrip("."), f"{state.width_px}x{state.height_px}"
        facts = (rate, size, state.codec, "yes" if state.has_audio else "no")
    return (state.video, state.path or "", f"{state.duration_s:.2f} s", *facts, state.message)


def _plain(state: VideoState) -> dict[str, object]:
    values = {name: getattr(state, name) for name in VideoState.__slots__}
    return {**values, "fps": None if state.fps is None else str(state.fps), "advice": state.advice}


def remove(
    folder: Dir, videos: Annotated[list[str], argument("VIDEO...", "Names of videos, as `reelrank probe` lists them.")]
) -> None:
    """Remove videos that nothing uses from the project.

    Their proposed moments are removed too; their files stay. Nothing is removed if captions, queries, grades or
    descriptions use one of the videos.

    Example: reelrank videos remove my-project episode-3 episode-4
    """
    from backend.campaign.monitoring.videos.adding import remove_videos

    removed = remove_videos(open_project(folder), OPERATOR, videos, now=now())
    say(f"Removed {counted(removed, 'video')}. Their files are where they were.")


def queued(
    folder: Dir,
    jobs: Jobs = None,
    cluster: Cluster = None,
    next_: Annotated[
        bool, option("--next", "Also cut clips of each query's next batch, which a lead may open.")
    ] = False,
    all_: Annotated[bool, option("--all", "Also cut clips of every candidate.")] = False,
) -> None:
    """Cut the clips of all pairs that wait for grades.

    Clips that are needed first are cut first. You can stop the command and run it again, also while the server runs. If
    the project shares clips in a bucket, clips from the bucket are not cut again, and missing ones are copied to it.

    Example: reelrank clips queued my-project --jobs 4, or for short: reelrank clips my-project --jobs 4
    """
    from backend.campaign.monitoring.progress.progress import bucket_troubles, cut_clips_as_job

    start = time.monotonic()
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = cut_clips_as_job(
            project,
            OPERATOR,
            next_batches=next_,
            everything=all_,
            where=where(jobs, cluster),
            progress=steps_of(progress, "Cutting clips"),
            now=now(),
        )
    clips = report.clips
    total = clips.there + clips.shared + clips.cut + clips.left + len(clips.failed)
    if total == 0 and not report.without_file:
        say("Nothing to cut: no pair waits for grades.")
        return
    shared = f"{clips.shared:,} in the bucket, " if project.settings.clips.bucket else ""
    counts = f"{clips.there:,} existed, {shared}{clips.cut:,} cut, {len(clips.failed):,} failed"
    say(f"{counted(total, 'clip')}: {counts} ({seconds(start)}).")
    if clips.left:
        say(
            f"{clips.left:,} more do not fit in cache/clips. They are cut when an annotator needs them. "
            "To keep more, raise `cache_gb` under [clips] in reelrank.toml."
        )
    if clips.stored:
        say(f"Copied to the bucket: {counted(clips.stored, 'existing clip')}.")
    for trouble in bucket_troubles(project, OPERATOR):
        say(trouble)
    if report.without_file:
        say(f"No file for {', '.join(report.without_file)}. Import again with --videos FOLDER.")
    rows = [(job.source.name, f"{job.start_s:.2f}-{job.end_s:.2f}", why) for job, why in (*clips.failed, *clips.warned)]
    if rows:
        say("")
        table(("video", "seconds", "problem"), rows, left=(True, False, True))
    if clips.failed or report.without_file:
        raise typer.Exit(1)


def moment(
    video: Annotated[Path, argument("VIDEO", "A video file, or a folder of frames (3 per second).")],
    start: Annotated[float, argument("START", "Start in seconds.")],
    end: Annotated[float, argument("END", "End in seconds, not included.")],
    out: Annotated[Path, argument("OUT", "The clip to write: .mp4, .webm or .gif.")],
) -> None:
    """Cut one exact moment: the frames with START <= time < END.

    The extension of OUT chooses the format: .mp4 (H.264 and AAC, which every browser plays), .webm (VP9 and Opus,
    free of patents) or .gif (silent, at most 360 lines and 12.5 frames a second, for slides and papers).

    Example: reelrank clips moment episode.mkv 63.47 77.42 moment.mp4
    """
    from backend.media.together import cut

    report = cut(video, start, end, out)
    say_each("Warning: {}", report.warnings)
    say(f"{out}: {report.frames} frames, {report.duration_s:.3f} s")


add_group("videos", "Remove videos that nothing uses.", "remove my-project episode-3", {"remove": remove})


add_group(
    "clips",
    "Cut the clips of all queued pairs, or of one moment.",
    "my-project",
    {"queued": queued, "moment": moment},
    default="queued",
)
