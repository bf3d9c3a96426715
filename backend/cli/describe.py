"""Commands about describing: `reelrank describe DIR`, `... open|close|list|export|guideline`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from backend.api import open_project
from backend.campaign.corpus.describing.model import DescribingChoice, DescriptionFilter, DescriptionStatus
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_group
from backend.cli.options import Dir, Json, argument, option
from backend.cli.output import end_with_json, fail, now, save, say, table
from backend.core.ids import AnnotatorId
from backend.core.reading import bytes_of
from backend.core.text_files import decode_text
from backend.core.typed_text import name_key

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def show(folder: Dir, json: Json = False) -> None:
    """Show whether describing is open, for whom, and its progress.

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
        who = "every annotator" if chosen.people is None else ", ".join(names[one] for one in chosen.people)
        which = "all videos" if chosen.videos is None else f"{len(chosen.videos):,} of the videos"
        say(f"Describing is open for {who}, in {which}{_wanted(chosen)}.")
    else:
        say("Describing is closed: nobody may describe. Open it with `reelrank describe open`, or on Descriptions.")
    enough = "" if figures.enough is None else f", {figures.enough:,} have as many descriptions as are wanted"
    say(f"{figures.described:,} of {figures.videos:,} videos described{enough}.")
    if figures.people:
        rows = [
            (one.name, one.waiting, one.returned, one.accepted, f"{60 * one.active_h:.0f}") for one in figures.people
        ]
        table(("person", "to review", "sent back", "accepted", "minutes"), rows)


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
    """Open describing: for all annotators and videos by default.

    This replaces the earlier choice. Annotators get a page for it in their menu. What they write waits for review
    on the lead's page Descriptions.

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
    """Stop describing.

    Descriptions that were written stay, and those still in a browser are saved.

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
    """List descriptions, oldest first.

    By default, list those that wait for a lead.

    Example: reelrank describe list my-project --show all
    """
    from backend.campaign.corpus.describing.reviewing import count_descriptions, find_descriptions

    project = open_project(folder)
    status = None if which == "all" else DescriptionStatus(which)
    wanted = DescriptionFilter(status, search)
    count = count_descriptions(project, OPERATOR, wanted)
    found = find_descriptions(project, OPERATOR, wanted, most=count)
    if json:
        end_with_json(found)
    if not found:
        say("There are none.")
        return
    rows = [
        (one.video, f"{one.start_s:.2f}", f"{one.end_s:.2f}", one.author, one.status.value, one.sentence)
        for one in found
    ]
    left = (True, False, False, True, True, True)
    table(("video", "start", "end", "by", "stands", "sentence"), rows, left)


def export(folder: Dir, out: Annotated[Path, argument("FILE.csv", "The file to write.")]) -> None:
    """Write all descriptions as CSV.

    Each row has the span, sentence, caption, author and status.

    Example: reelrank describe export my-project descriptions.csv
    """
    from backend.campaign.corpus.describing.reviewing import descriptions_csv

    text = descriptions_csv(open_project(folder), OPERATOR)
    save(out, text)
    say(f"Wrote {out}.")


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
        text = decode_text(bytes_of(file), str(file))
        reword_describing(project, OPERATOR, text, reason, now=now())
    found = describing_guideline(project, OPERATOR)
    say(f"Version {found.version}{f': {found.reason}' if found.reason else ''}")
    say(found.text)


def _people(project: "Project", names: list[str]) -> tuple[AnnotatorId, ...]:
    """Return the users with these names, or name all that do not exist."""
    from backend.campaign.setup.people.accounts import list_people

    known = {name_key(row.person.name): row.person for row in list_people(project, OPERATOR)}
    if missing := [name for name in dict.fromkeys(names) if name_key(name) not in known]:
        there = ", ".join(person.name for person in known.values())
        fail(f"nobody is called {', '.join(missing)}; the users are {there}")
    return tuple(dict.fromkeys(known[name_key(name)].annotator_id for name in names))


def _wanted(chosen: DescribingChoice) -> str:
    if chosen.per_video is not None:
        return f"; {chosen.per_video:,} descriptions a video are wanted"
    return "" if chosen.per_minute is None else f"; {chosen.per_minute:g} descriptions a minute of video are wanted"


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
