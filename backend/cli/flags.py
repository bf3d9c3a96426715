"""What to look at in people's work: `reelrank users flags`."""

from typing import TYPE_CHECKING, Annotated

import typer

from backend.api import open_project
from backend.campaign.monitoring.quality.model import FLAG_NAMES, Flag, PersonFlags
from backend.campaign.nouns import OPERATOR
from backend.cli.output import Dir, Json, fail, json_text, say, table
from backend.core.person_names import name_key

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


SHOWN = 20
"""Pairs that are named of a flag."""


def flags(
    folder: Dir,
    person: Annotated[
        str | None, typer.Option("--person", metavar="NAME", help="Show everything about one annotator, with pairs.")
    ] = None,
    json: Json = False,
) -> None:
    """Show each annotator's quality flags.

    Eight figures: too fast, clip not seen, one grade again and again, bias, drift, falling agreement, skips, clips
    reported as broken. An exclamation mark means that a figure is worth a look, a dash that it is undefined.
    --person shows on how many grades each figure rests, and why one is undefined. A flag has no effect by itself.

    Example: reelrank users flags my-project
    """
    from backend.campaign.monitoring.quality import flags as quality_flags

    project = open_project(folder)
    found = quality_flags.flags(project, OPERATOR)
    if person is not None:
        found = [one for one in found if name_key(one.name) == name_key(person)]
        if not found:
            fail(f"there is no annotator named {person}: reelrank users flags without --person lists them")
    if json:
        say(json_text({"people": found}))
        return
    table(("annotator", "grades", *FLAG_NAMES.values()), [_row(one) for one in found])
    say("")
    for one in found:
        for flag in one.flags if person is not None else one.raised:
            say(f"{one.name}, {FLAG_NAMES[flag.kind].lower()}{' (!)' if flag.raised else ''}: {flag.told}")
            if person is not None:
                _pairs(project, one, flag)
    if not any(one.raised for one in found):
        say("Nothing is flagged.")


def _row(one: PersonFlags) -> tuple[object, ...]:
    return (one.name, f"{one.grades:,}", *(f"{'! ' if flag.raised else ''}{flag.figure}" for flag in one.flags))


def _pairs(project: "Project", one: PersonFlags, flag: Flag) -> None:
    from backend.campaign.monitoring.quality import flags as quality_flags

    behind = quality_flags.behind_flag(project, OPERATOR, one.annotator_id, flag.kind)
    if behind.pairs:
        more = f" and {len(behind.pairs) - SHOWN:,} more" if len(behind.pairs) > SHOWN else ""
        say(f"  pairs: {', '.join(map(str, behind.pairs[:SHOWN]))}{more}")
    if behind.by_number:
        say(f"  {behind.by_number:,} pairs of which nothing but the number is known")
