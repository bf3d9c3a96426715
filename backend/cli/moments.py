"""Commands that make moments: `reelrank moments` proposes them, `describe` lets annotators mark them."""

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from backend.api import open_project
from backend.campaign.corpus.describing.model import DescribingChoice, DescriptionFilter, DescriptionStatus
from backend.campaign.corpus.moments.model import ByShots, ByWindows, Origin
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command, add_group
from backend.cli.options import Cluster, Dir, Jobs, Json, argument, list_option, option, typed, where_if_given, whole
from backend.cli.output import (
    counted,
    end_with_json,
    fail,
    now,
    progress_bar,
    save,
    say,
    say_done,
    seconds,
    table,
    tell_written,
)
from backend.cli.pipeline import say_next
from backend.cli.videos import DecodeOption, FpsOption, frame_rate
from backend.core.errors import Problem
from backend.core.ids import AnnotatorId
from backend.core.reading import file_bytes
from backend.core.text_files import decode_text
from backend.core.typed_text import name_key

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


_LENGTHS_S = typed("5,10,20")


@add_command("moments")
def moments(
    folder: Dir,
    videos: Annotated[Path | None, option("--videos FOLDER", "Add the videos of this folder.")] = None,
    frames_per_s: FpsOption = "3",
    decode: DecodeOption = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    how: Annotated[
        Literal["shots", "windows"] | None,
        option("--by", "Propose moments in every video: its shots, or windows of fixed lengths."),
    ] = None,
    lengths: Annotated[list[float], list_option("--lengths S,S", "For windows: lengths in seconds.")] = _LENGTHS_S,
    stride: Annotated[
        float, option("--stride X", "For windows: step to the next one, as a share of the length.")
    ] = 0.5,
    shortest: Annotated[float, option("--shortest S", "Join shots shorter than this, in seconds.")] = 2.0,
    longest: Annotated[float, option("--longest S", "Split shots longer than this evenly, in seconds.")] = 20.0,
    own: Annotated[
        Path | None, option("--from FILE", "Add moments from a CSV file with the columns video, start, end.")
    ] = None,
    only: Annotated[
        bool, option("--only", "With --from: remove all other unused moments of the file's videos.")
    ] = False,
    export: Annotated[Path | None, option("--export FILE", "Write all moments to a CSV file of the same form.")] = None,
    as_json: Json = False,
) -> None:
    """Add videos without annotations; propose moments in them.

    Without options, list the videos and their moments. A video that cannot be read is listed with the reason; all
    others are added. Moments that captions or pairs use never change. Leads can change other moments on the page
    Moments.

    Example: reelrank moments my-project --videos my-videos --by shots
    """
    from backend.campaign.corpus.moments.editing import moments_csv, take_moments, videos_and_moments
    from backend.campaign.corpus.moments.proposing import propose_moments
    from backend.campaign.monitoring.videos.check import register_videos
    from backend.campaign.review.status import status_counts

    start = time.monotonic()
    if only and own is None:
        raise typer.BadParameter("needs a file: add --from FILE", param_hint="--only")
    windows = ByWindows(tuple(lengths), stride)
    project = open_project(whole(folder, cluster))
    problems: list[Problem] = []
    done: list[str] = []
    if videos is not None:
        with progress_bar() as progress:
            added = register_videos(
                project,
                OPERATOR,
                whole(videos, cluster),
                fps=frame_rate(frames_per_s),
                decode=decode,
                where=where_if_given(jobs, cluster),
                now=now(),
                progress=progress,
            )
        again = f", {len(added.videos) - added.new:,} were there already" if len(added.videos) > added.new else ""
        say_done("" if as_json else added.done)
        done.append(f"{counted(added.new, 'video')} added from {videos.name}{again}.")
        done += [f"Damaged: {video.name}: {video.facts.damage}." for video in added.videos if video.facts.damage]
        problems += added.problems
    if own is not None:
        own_report = take_moments(project, OPERATOR, own, only=only, now=now())
        say_done("" if as_json else own_report.done)
        done.append(
            f"{own.name}: {counted(own_report.moments, 'moment')}, {own_report.new:,} of them new."
            f"{_removal_words(own_report.gone, own_report.stayed)}"
        )
    if how is not None:
        options = ByShots(shortest, longest) if how == "shots" else windows
        with progress_bar() as progress:
            report = propose_moments(
                project, OPERATOR, options, where=where_if_given(jobs, cluster), now=now(), progress=progress
            )
        say_done("" if as_json else report.done)
        shots = f" from {counted(report.shots, 'shot')}" if how == "shots" else ""
        done.append(
            f"{counted(report.moments, 'moment')} by {how}{shots} of {counted(report.videos, 'video')}, "
            f"{report.new:,} of them new.{_removal_words(report.gone, report.stayed)}"
        )
        problems += report.problems
    if export is not None:
        save(export, moments_csv(project, OPERATOR))
        done.append(f"All moments are in {export}.")
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
    elif done:
        say(f"{' '.join(done)} ({seconds(start)})")
        say_next(project)
        if not status_counts(project, OPERATOR)["captions"]:
            say(f"To let annotators write captions: reelrank describe open {shlex.quote(str(folder))}")
    else:
        _list(project)
    if problems:
        fail("\n".join([f"{counted(len(problems), 'video')} with a problem; the rest is done:", *map(str, problems)]))


def _removal_words(gone: int, stayed: int) -> str:
    parts = [f"{gone:,} removed" if gone else "", f"{stayed:,} kept, because they are in use" if stayed else ""]
    changes = ", ".join(filter(None, parts))
    return f" Earlier moments: {changes}." if changes else ""


def _list(project: "Project") -> None:
    from backend.campaign.corpus.moments.editing import videos_and_moments

    videos = videos_and_moments(project, OPERATOR)
    if not videos:
        say("The project has no videos yet. Add them with --videos FOLDER.")
        return
    origins = [origin for origin in Origin if any(origin in video.moments for video in videos)]
    rows = [
        (
            *(v.name, f"{v.duration_s:.1f}", "–" if v.shots is None else f"{v.shots:,}"),
            *(f"{v.moments.get(origin, 0):,}" for origin in origins),
            f"{v.used:,}",
        )
        for v in videos
    ]
    table(("video", "seconds", "shots", *origins, "used"), rows)
    total = sum(video.total for video in videos)
    say(f"\n{counted(total, 'moment')} of {counted(len(videos), 'video')}.")


def show(folder: Dir, json: Json = False) -> None:
    """Show whether annotators may describe moments, and how far they are.

    To describe is to mark a moment of a video and write a sentence for it.

    Example: reelrank describe show my-project, or for short: reelrank describe my-project
    """
    from backend.campaign.corpus.describing.opening import describing_choice
    from backend.campaign.corpus.describing.reviewing import describing_figures
    from backend.campaign.setup.people.accounts import list_people

    project = open_project(folder)
    chosen, figures = describing_choice(project, OPERATOR), describing_figures(project, OPERATOR)
    if json:
        end_with_json({"choice": chosen, "figures": figures})
    if chosen.open:
        names = {row.person.annotator_id: row.person.name for row in list_people(project, OPERATOR)}
        who = "every annotator" if chosen.people is None else ", ".join(names[person] for person in chosen.people)
        scope = "all videos" if chosen.videos is None else f"{len(chosen.videos):,} of the videos"
        say(f"Describing is open for {who}, in {scope}{_goal_words(chosen)}.")
    else:
        say("Describing is closed. Open it with `reelrank describe open`, or on the page Captions.")
    enough = "" if figures.enough is None else f", {figures.enough:,} of them often enough"
    say(f"{figures.described:,} of {figures.videos:,} videos described{enough}.")
    if figures.people:
        rows = [
            (person.name, person.waiting, person.returned, person.accepted, f"{60 * person.active_h:.0f}")
            for person in figures.people
        ]
        table(("annotator", "to review", "sent back", "accepted", "minutes"), rows)


def open_describing(
    folder: Dir,
    who: Annotated[list[str] | None, option("--who NAME", "Only this annotator; may be repeated.")] = None,
    videos: Annotated[list[str] | None, option("--video NAME", "Only this video; may be repeated.")] = None,
    per_video: Annotated[
        int | None, option("--per-video N", "Descriptions wanted per video, from everybody together.", min=1)
    ] = None,
    per_minute: Annotated[
        float | None, option("--per-minute X", "Descriptions wanted per minute of video, from everybody together.")
    ] = None,
) -> None:
    """Let annotators mark moments and write a sentence for each.

    By default, all annotators may do so, in all videos. A new call replaces the annotators, videos and numbers of the
    earlier one. These annotators find the page for describing in their menu. Leads review the descriptions on the page
    Captions.

    Example: reelrank describe open my-project --who Ana --who Ben --per-video 5
    """
    from backend.campaign.corpus.describing.opening import choose_describing

    project = open_project(folder)
    chosen = DescribingChoice(
        open=True,
        people=None if not who else _people(project, who),
        videos=None if not videos else tuple(dict.fromkeys(videos)),
        per_video=per_video,
        per_minute=per_minute,
    )
    choose_describing(project, OPERATOR, chosen, now=now())
    show(folder)


def close(folder: Dir) -> None:
    """Stop annotators from describing further moments.

    Existing descriptions stay. A description that is still open in a browser is saved.

    Example: reelrank describe close my-project
    """
    from backend.campaign.corpus.describing.opening import close_describing

    closed = close_describing(open_project(folder), OPERATOR, now=now())
    say("Describing is closed." if closed else "Nothing to do: describing is closed.")


def list_descriptions(
    folder: Dir,
    which: Annotated[
        Literal["waiting", "returned", "accepted", "all"], option("--show", "Status of the descriptions to list.")
    ] = "waiting",
    search: Annotated[
        str, option("--search WORDS", "Only those with these words in the sentence, video or author.")
    ] = "",
    json: Json = False,
) -> None:
    """List the descriptions that annotators have written, oldest first.

    A description is a marked moment with a sentence. By default, lists those that a lead has yet to review.

    Example: reelrank describe list my-project --show all
    """
    from backend.campaign.corpus.describing.reviewing import count_descriptions, find_descriptions

    project = open_project(folder)
    status = None if which == "all" else DescriptionStatus(which)
    criteria = DescriptionFilter(status, search)
    count = count_descriptions(project, OPERATOR, criteria)
    descriptions = find_descriptions(project, OPERATOR, criteria, most=count)
    if json:
        end_with_json(descriptions)
    if not descriptions:
        say("No descriptions to list.")
        return
    rows = [
        (row.video, f"{row.start_s:.2f}", f"{row.end_s:.2f}", row.author, row.status.value, row.sentence)
        for row in descriptions
    ]
    left = (True, False, False, True, True, True)
    table(("video", "start", "end", "by", "status", "sentence"), rows, left)


def export(folder: Dir, out: Annotated[Path, argument("FILE.csv", "The file to write.")]) -> None:
    """Write all descriptions as CSV.

    Each row has the span, sentence, caption, author and status.

    Example: reelrank describe export my-project descriptions.csv
    """
    from backend.campaign.corpus.describing.reviewing import descriptions_csv

    text = descriptions_csv(open_project(folder), OPERATOR)
    save(out, text)
    say(f"Written: {out}")


def guideline(
    folder: Dir,
    file: Annotated[Path | None, argument("FILE.txt", "A new guideline, one rule per line.")] = None,
    reason: Annotated[str, option("--reason", "Why it changes; describers read this sentence.")] = "",
) -> None:
    """Show the guideline for describing, or replace it by a file.

    Annotators who describe are shown each new version once.

    Example: reelrank describe guideline my-project rules.txt --reason "Shorter sentences"
    """
    from backend.campaign.corpus.describing.opening import describing_guideline, reword_describing

    project = open_project(folder)
    if file is not None:
        text = decode_text(file_bytes(file), str(file))
        reword_describing(project, OPERATOR, text, reason, now=now())
    current = describing_guideline(project, OPERATOR)
    say(f"Version {current.version}{f': {current.reason}' if current.reason else ''}")
    say(current.text)


def _people(project: "Project", names: list[str]) -> tuple[AnnotatorId, ...]:
    """Return the users with these names; refuse if one does not exist."""
    from backend.campaign.setup.people.accounts import list_people

    known = {name_key(row.person.name): row.person for row in list_people(project, OPERATOR)}
    if missing := [name for name in dict.fromkeys(names) if name_key(name) not in known]:
        existing = ", ".join(person.name for person in known.values())
        fail(f"there is no user named {', '.join(missing)}; the users are {existing}")
    return tuple(dict.fromkeys(known[name_key(name)].annotator_id for name in names))


def _goal_words(chosen: DescribingChoice) -> str:
    if chosen.per_video is not None:
        return f"; {counted(chosen.per_video, 'description')} wanted per video"
    return "" if chosen.per_minute is None else f"; {chosen.per_minute:g} descriptions wanted per minute of video"


add_group(
    "describe",
    "Let annotators mark moments and describe them.",
    "my-project",
    {
        "show": show,
        "open": open_describing,
        "close": close,
        "list": list_descriptions,
        "export": export,
        "guideline": guideline,
    },
    default="show",
)
