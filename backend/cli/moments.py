"""Videos and moments without annotation files: `reelrank moments`."""

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.corpus.moments.model import ByShots, ByWindows, Origin
from backend.campaign.nouns import OPERATOR
from backend.cli.options import Cluster, Jobs, list_option, typed, where_told, whole
from backend.cli.output import Dir, Json, fail, now, progress_bar, save, say, seconds, table, tell_written
from backend.cli.pipeline import say_next
from backend.cli.videos import DecodeOption, FpsOption, frame_rate
from backend.core.errors import Problem

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


_LENGTHS_S = typed("5,10,20")


class ProposeBy(StrEnum):
    """What becomes moments."""

    SHOTS = "shots"
    WINDOWS = "windows"


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("moments")(moments)


def moments(
    folder: Dir,
    videos: Annotated[
        Path | None,
        typer.Option("--videos", metavar="FOLDER", help="Add the videos of this folder.", show_default=False),
    ] = None,
    frames_per_s: FpsOption = "3",
    decode: DecodeOption = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    how: Annotated[
        ProposeBy | None,
        typer.Option(
            "--by", help="Propose moments in every video: its shots, or windows of fixed lengths.", show_default=False
        ),
    ] = None,
    lengths: Annotated[list[float], list_option("--lengths", "S,S", "For windows: lengths in seconds.")] = _LENGTHS_S,
    stride: Annotated[
        float,
        typer.Option("--stride", metavar="X", help="For windows: step to the next one, as a share of the length."),
    ] = 0.5,
    shortest: Annotated[
        float, typer.Option("--shortest", metavar="S", help="Join shots shorter than this, in seconds.")
    ] = 2.0,
    longest: Annotated[
        float, typer.Option("--longest", metavar="S", help="Split shots longer than this evenly, in seconds.")
    ] = 20.0,
    own: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Add moments from a CSV file with the columns video, start, end.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="With --from: remove other, unused moments of its videos.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write all moments to such a CSV file.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Add videos without annotations; propose moments in them.

    Without options, list the videos and their moments. A video that cannot be read is listed with the reason; all
    others are added. Moments that captions or pairs use never change. Change the others on the page Moments.

    Example: reelrank moments my-project --videos my-videos --by shots
    """
    from backend.campaign.corpus.moments.editing import moments_csv, take_moments, videos_and_moments
    from backend.campaign.corpus.moments.proposing import propose_moments
    from backend.campaign.monitoring.videos.check import register_videos
    from backend.campaign.review.status import status_counts

    start = now()
    if only and own is None:
        raise typer.BadParameter("is about a file: name it with --from", param_hint="--only")
    windows = ByWindows(tuple(lengths), stride)
    project = open_project(whole(folder, cluster))
    problems: list[Problem] = []
    told: list[str] = []
    if videos is not None:
        with progress_bar() as progress:
            found = register_videos(
                project,
                OPERATOR,
                whole(videos, cluster),
                fps=frame_rate(frames_per_s),
                decode=decode,
                where=where_told(jobs, cluster),
                now=start,
                progress=progress,
            )
        again = f", {len(found.videos) - found.new:,} were there before" if len(found.videos) > found.new else ""
        told.append(f"{found.new:,} new videos from {videos.name}{again}.")
        told += [f"Damaged: {video.name}: {video.facts.damage}." for video in found.videos if video.facts.damage]
        problems += found.problems
    if own is not None:
        taken = take_moments(project, OPERATOR, own, only=only, now=start)
        told.append(
            f"{own.name}: {taken.moments:,} moments, {taken.new:,} of them new.{_gone(taken.gone, taken.stayed)}"
        )
    if how is not None:
        options = ByShots(shortest, longest) if how is ProposeBy.SHOTS else windows
        with progress_bar() as progress:
            report = propose_moments(
                project, OPERATOR, options, where=where_told(jobs, cluster), now=start, progress=progress
            )
        shots = f" from {report.shots:,} shots" if how is ProposeBy.SHOTS else ""
        told.append(
            f"{report.moments:,} moments by {how}{shots} of {report.videos:,} videos, {report.new:,} of them new."
            f"{_gone(report.gone, report.stayed)}"
        )
        problems += report.problems
    if export is not None:
        save(export, moments_csv(project, OPERATOR))
        told.append(f"All moments are in {export}.")
    if as_json:
        rows = videos_and_moments(project, OPERATOR)
        listed = [
            {
                **{"video": v.name, "duration_s": v.duration_s, "shots": v.shots, "used": v.used},
                "moments": {origin.value: count for origin, count in v.moments.items()},
            }
            for v in rows
        ]
        say(json.dumps({"videos": listed, "problems": [str(problem) for problem in problems]}, indent=2))
        tell_written([export], data=True)
    elif told:
        say(f"{' '.join(told)} ({seconds(start)})")
        say_next(project)
        if not status_counts(project, OPERATOR)["captions"]:
            say(f"To let annotators write captions: reelrank describe open {shlex.quote(str(folder))}")
    else:
        _list(project)
    if problems:
        fail(
            "\n".join(
                [f"{len(problems):,} videos could not be taken as they are; the rest is done:", *map(str, problems)]
            )
        )


def _gone(gone: int, stayed: int) -> str:
    parts = [f"{gone:,} went" if gone else "", f"{stayed:,} stay, because something uses them" if stayed else ""]
    said = ", ".join(filter(None, parts))
    return f" Of those before, {said}." if said else ""


def _list(project: "Project") -> None:
    from backend.campaign.corpus.moments.editing import videos_and_moments

    found = videos_and_moments(project, OPERATOR)
    if not found:
        say("The project has no videos yet: name their folder with --videos.")
        return
    origins = [origin for origin in Origin if any(origin in video.moments for video in found)]
    rows = [
        (
            *(v.name, f"{v.duration_s:.1f}", "–" if v.shots is None else f"{v.shots:,}"),
            *(f"{v.moments.get(origin, 0):,}" for origin in origins),
            f"{v.used:,}",
        )
        for v in found
    ]
    table(("video", "seconds", "shots", *origins, "used"), rows)
    total = sum(video.total for video in found)
    say(f"\n{total:,} moments of {len(found):,} videos.")
