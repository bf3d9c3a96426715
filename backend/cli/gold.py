"""Commands about silent gold: `reelrank gold set|status|off`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_group
from backend.cli.options import Dir, Json, option
from backend.cli.output import json_text, now, say, table

if TYPE_CHECKING:
    from backend.campaign.qualification.gold import questions


def set_gold(
    folder: Dir,
    key: Annotated[
        Path | None, option("--from KEY.csv", "Use the pairs of this file instead of a draw: pair_id,grade.")
    ] = None,
    pairs: Annotated[int, option("--pairs", "Highest number of settled pairs to draw.", min=1)] = 500,
    share: Annotated[
        float | None, option("--share", "Share of gold questions in everybody's pairs.", show_default="0.05")
    ] = None,
    window: Annotated[
        int | None,
        option("--window", "Number of last answers that accuracy is computed from.", min=1, show_default="20"),
    ] = None,
    fewest: Annotated[
        int | None,
        option("--fewest", "Number of answers before anybody is warned or paused.", min=1, show_default="10"),
    ] = None,
    warn: Annotated[
        float | None,
        option("--warn", "Warn annotators below this accuracy, in percent.", min=0, max=100, show_default="70"),
    ] = None,
    pause: Annotated[
        float | None,
        option("--pause", "Pause annotators below this accuracy, in percent.", min=0, max=100, show_default="50"),
    ] = None,
) -> None:
    """Mix hidden gold questions into everybody's work.

    Gold questions are pairs with a known grade. Annotators cannot tell them apart, and their answers are never
    exported as work. Without --from they are settled pairs that a lead adjudicated or that annotators graded alike.
    An annotator who was warned and falls below the same level again within a window is paused. A lead ends the
    pause on the page People.

    Example: reelrank gold set my-project --share 0.05
    """
    from backend.campaign.qualification.gold import questions

    options = questions.GoldOptions(share, window, fewest, warn, pause)
    report = questions.set_gold(open_project(folder), OPERATOR, options, key, pairs=pairs, now=now())
    _told(report)


def status(folder: Dir, json: Json = False) -> None:
    """Show where gold questions come from, and everybody's accuracy.

    Example: reelrank gold status my-project
    """
    from backend.campaign.qualification.gold import questions

    report, people = questions.gold_results(open_project(folder), OPERATOR)
    if json:
        say(json_text({"gold": report, "people": people}))
        return
    if report.settings.on:
        _told(report)
    else:
        say("No gold is mixed into anybody's work.")
    say("")
    table(
        ("annotator", "answers", "agree", "of the last", "%", "then", "can still meet"), [_row(one) for one in people]
    )


def off(folder: Dir) -> None:
    """Stop mixing gold questions into the work.

    Answers stay in the record, and pauses stay in force.

    Example: reelrank gold off my-project
    """
    from backend.campaign.qualification.gold import questions

    ended = questions.end_gold(open_project(folder), OPERATOR, now=now())
    say("No gold any more." if ended else "Nothing to do: no gold is mixed into anybody's work.")


def _told(report: "questions.GoldReport") -> None:
    settings = report.settings
    say(f"Gold: {settings.share:.1%} of everybody's pairs, chosen from {report.pairs}.")
    say("Right grades: " + ", ".join(f"{grade}: {count}" for grade, count in enumerate(report.grades)))
    say(
        f"Over the last {settings.window} answers, from {settings.fewest} on: warned below {settings.warn:g} %, paused "
        f"below {settings.pause:g} %."
    )
    if report.constant_right >= settings.warn:
        say(
            f"Note: whoever always gives {report.constant} agrees with {report.constant_right:.0f} % of it, which is "
            f"not below {settings.warn:g} %: raise --warn, or bring pairs of more grades."
        )


def _row(one: "questions.GoldPerson") -> tuple[object, ...]:
    share = "" if one.accuracy is None else f"{one.accuracy:.0f}"
    state = "paused" if one.pause else (one.findings[0].kind.value if one.findings else "")
    return (one.person.name, len(one.answers), one.within, one.counted, share, state, one.left)


add_group(
    "gold",
    "Mix hidden gold questions into the annotators' work.",
    "set my-project --share 0.05",
    {"set": set_gold, "status": status, "off": off},
)
