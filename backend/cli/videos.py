"""Commands about videos: `reelrank probe` reads them anew, `reelrank clips` cuts them."""

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
from backend.cli.output import fail, json_text, now, progress_bar, say, say_each, seconds, table
from backend.core.progress import named

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
    """Check every video file, and list what is wrong.

    Shows each video's length, frame rate, size and codec, and where its file is. A moved or renamed video is found
    by its content. Pairs whose video cannot be shown are not handed out until it can. The exit code is 1 if
    anything is wrong.

    Example: reelrank probe my-project --decode
    """
    from backend.campaign.monitoring.videos.check import look_at_videos

    start = now()
    fps = frame_rate(frames_per_s)
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = look_at_videos(
            project,
            OPERATOR,
            videos=whole(videos, cluster) if videos else None,
            fps=fps,
            decode=decode,
            where=where_if_given(jobs, cluster),
            accept=accept or (),
            now=start,
            progress=progress,
        )
    if json:
        say(json_text([_plain(one) for one in report.videos]))
        raise typer.Exit(1 if report.wrong else 0)
    table(
        ("video", "file", "length", "frames/s", "size", "codec", "sound", "what is wrong"),
        [_row(one) for one in report.videos],
        left=(True, True, False, False, False, True, True, True),
    )
    say("")
    for video, path in report.moved:
        say(f"Found again: {video} lies at {path}.")
    say_each("The new content of {} was taken in; what was graded by the former one stays.", report.accepted)
    if report.freed:
        say(f"{report.freed:,} clips are offered again.")
    for one in report.wrong:
        say(f"{one.video}: {one.advice}")
    if any(one.trouble is Trouble.MISSING for one in report.wrong):
        say("--videos FOLDER shows where missing videos lie.")
    if any(one.trouble is Trouble.CHANGED for one in report.wrong):
        say("--accept VIDEO takes the new content of one that has changed.")
    undecoded(report.videos)
    wrong = f"{len(report.wrong):,} with something wrong" if report.wrong else "nothing wrong"
    say(f"{len(report.videos):,} videos, {wrong} ({seconds(start)}).")
    raise typer.Exit(1 if report.wrong else 0)


def frame_rate(text: str) -> Fraction:
    """Frames a second, `3`, `2.5` or `24000/1001`; anything else is wrong usage."""
    try:
        rate = Fraction(text)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if rate <= 0:
        raise typer.BadParameter(f"{text!r} is not a number above 0 such as 3", param_hint="--frames-per-s")
    return rate


def tell(troubles: Sequence[VideoTrouble]) -> None:
    """Say what is wrong with videos that were to be taken, all at once; where one cannot be shown the code is 1."""
    for one in troubles:
        if one.trouble is Trouble.DAMAGED:
            say(f"Damaged: {one.video}: {one.message}")
    lost = [f"{one.video}: {one.message}" for one in troubles if one.trouble is not Trouble.DAMAGED]
    if lost:
        which = "1 video cannot" if len(lost) == 1 else f"{len(lost):,} videos cannot"
        fail("\n".join([f"{which} be shown; the rest was taken:", *lost]))


def undecoded(videos: Sequence[VideoState]) -> None:
    """Say that damage inside is not known of everything."""
    count = sum(one.shown and not one.decoded for one in videos)
    if count:
        which = "1 video was" if count == 1 else f"{count:,} videos were"
        say(f"The pictures of {which} not looked at, one by one: --decode does, and finds damage inside.")


def _row(one: VideoState) -> tuple[str, ...]:
    facts: tuple[str, ...] = ("", "", "", "")
    if one.fps is not None:
        rate, size = f"{float(one.fps):.3f}".rstrip("0").rstrip("."), f"{one.width_px}x{one.height_px}"
        facts = (rate, size, one.codec, "yes" if one.has_audio else "no")
    return (one.video, one.path or "", f"{one.duration_s:.2f} s", *facts, one.message)


def _plain(one: VideoState) -> dict[str, object]:
    named = {name: getattr(one, name) for name in VideoState.__slots__}
    return {**named, "fps": None if one.fps is None else str(one.fps), "advice": one.advice}


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

    Clips that are needed first are cut first. You can stop the command and run it again, also while the server
    runs. Clips that a clip bucket has are not cut, and those that it lacks are copied to it.

    Example: reelrank clips queued my-project --jobs 4, or for short: reelrank clips my-project --jobs 4
    """
    from backend.campaign.monitoring.progress.progress import bucket_troubles, cut_clips_as_job

    start = now()
    project = open_project(whole(folder, cluster))
    with progress_bar() as progress:
        report = cut_clips_as_job(
            project,
            OPERATOR,
            next_batches=next_,
            everything=all_,
            where=where(jobs, cluster),
            progress=named(progress, "Cutting clips"),
            now=start,
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


add_group(
    "clips",
    "Cut the clips of all queued pairs, or of one moment.",
    "my-project",
    {"queued": queued, "moment": moment},
    default="queued",
)
