"""Commands about the tutorial: `reelrank tutorial set|status|on|off`."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.groups import add_group
from backend.cli.output import Dir, Json, json_text, now, say, table


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "tutorial",
        "Set what annotators practise before their first clip.",
        "set my-project practice.csv",
        {"set": set_practice, "status": status, "on": on, "off": off},
    )


def set_practice(
    folder: Dir,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.csv", help="One moment of the project per row: query,video,start,end,grade,explanation."
        ),
    ],
) -> None:
    """Replace the practice pairs by those of a file, in its order.

    A pair that still needs grades cannot be a practice pair.

    Example: reelrank tutorial set my-project practice.csv
    """
    from backend.campaign.qualification.guideline.practice_pairs import set_practice_from_file

    count = set_practice_from_file(open_project(folder), OPERATOR, file, now=now())
    say(f"Newcomers practise on {count} pairs now.")


def status(folder: Dir, json: Json = False) -> None:
    """Show whether the tutorial is on, and misses per practice pair.

    Example: reelrank tutorial status my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import practice_figures

    project = open_project(folder)
    pairs = practice_figures(project, OPERATOR, now=now())
    if json:
        say(json_text({"on": project.campaign.tutorial, "practice": pairs}))
        return
    said = "are shown the tutorial" if project.campaign.tutorial else "begin at once: the tutorial is off"
    say(f"Newcomers {said}.\n")
    rows = [(one.grade, one.query, one.video, one.people, one.missed, one.hidden or "yes") for one in pairs]
    table(("grade", "query", "video", "answered", "missed", "shown"), rows)


def on(folder: Dir) -> None:
    """Show newcomers the guideline and practice before their first clip.

    Example: reelrank tutorial on my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import switch_tutorial

    switch_tutorial(open_project(folder), OPERATOR, True, now=now())
    say("Newcomers are shown the tutorial.")


def off(folder: Dir) -> None:
    """Let newcomers start without the tutorial.

    Annotators who know an earlier guideline still see what changed.

    Example: reelrank tutorial off my-project
    """
    from backend.campaign.qualification.guideline.practice_pairs import switch_tutorial

    switch_tutorial(open_project(folder), OPERATOR, False, now=now())
    say("Newcomers begin at once; the guideline is a key away (G).")
