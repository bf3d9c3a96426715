"""Commands about the guideline: `reelrank guideline DIR`, `reelrank guideline set DIR FILE`."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.model import Grading
from backend.cli.groups import ShowByDefault, add_group
from backend.cli.output import Dir, Json, json_text, minute, now, say


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "guideline",
        "Show or change the grading guideline.",
        "my-project",
        {"show": show, "set": set_guideline},
        ShowByDefault,
    )


def show(folder: Dir, json: Json = False) -> None:
    """Print the guideline and its versions.

    Example: reelrank guideline show my-project, or for short: reelrank guideline my-project
    """
    from backend.campaign.qualification.guideline.rules import changes as guideline_changes
    from backend.campaign.qualification.guideline.versions import guideline_readers, guideline_versions

    project = open_project(folder)
    versions, readers = (
        guideline_versions(project, OPERATOR),
        guideline_readers(project, OPERATOR),
    )
    if json:
        say(json_text({"versions": versions, "readers": readers}))
        return
    _print(versions[-1].grading)
    say("\nVersions:")
    for before, one in zip([None, *versions], versions, strict=False):
        since = "from the beginning" if one.since is None else f"since {minute(one.since)}"
        by = f" by {one.by}" if one.by else "" if one.since is None else " by the command line"
        say(f"  {one.version}  {since}{by}{f': {one.reason}' if one.reason else ''}")
        for change in guideline_changes(before.grading, one.grading) if before else ():
            say(f"     {change.where}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}")


def set_guideline(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A TOML file, as for `init --scale`.")],
    reason: Annotated[
        str | None,
        typer.Option("--reason", help="Why it changes; annotators read this sentence.", show_default="the file's name"),
    ] = None,
) -> None:
    """Replace the guideline by a file.

    Once somebody has graded, only its words may change. Annotators see what changed before their next clip.

    Example: reelrank guideline set my-project guideline.toml --reason "Grade 3 was too wide"
    """
    from backend.campaign.qualification.guideline.versions import set_guideline_from_file

    project = open_project(folder)
    number, changed = set_guideline_from_file(project, OPERATOR, file, reason or f"from {file.name}", now=now())
    say(f"Version {number} of the guideline stands now; {len(changed)} texts differ:")
    for change in changed:
        say(f"  {change.where}: {change.before or '(nothing)'} -> {change.after or '(nothing)'}")


def _print(grading: Grading) -> None:
    for n, asked in enumerate(grading.questions, start=1):
        say(f"{n}. {asked.title} {asked.text}")
    for meaning in reversed(grading.scale.meanings):
        say(f"{meaning.grade}  {meaning.label}: {meaning.meaning}. {meaning.detail}")
        if meaning.example:
            say(f"   e.g. {meaning.example}")
    if any(meaning.example for meaning in grading.scale.meanings):
        say(f"The examples are for the query: {grading.example_query}")
    for text in grading.reminders:
        say(f"- {text}")
