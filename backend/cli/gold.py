"""Commands about silent gold: `reelrank gold set|status|off`."""

from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, Json, json_text, now, say, table


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    gold = typer.Typer(
        help="Pairs with a known grade among everybody's work.", no_args_is_help=True, rich_markup_mode=None
    )
    for name, command in (("set", set_gold), ("status", status), ("off", off)):
        gold.command(name)(command)
    app.add_typer(gold, name="gold")


def set_gold(
    folder: Dir,
    key: Annotated[
        Path | None, typer.Option("--from", metavar="KEY.csv", help="Instead of a draw: pair_id,grade.")
    ] = None,
    pairs: Annotated[int, typer.Option("--pairs", min=1, help="Draw at most so many settled pairs.")] = 500,
    share: Annotated[
        float | None, typer.Option("--share", help="Share of everybody's pairs.", show_default="0.05")
    ] = None,
    window: Annotated[
        int | None, typer.Option("--window", min=1, help="Accuracy is that of so many answers.", show_default="20")
    ] = None,
    fewest: Annotated[
        int | None, typer.Option("--fewest", min=1, help="Answers before anything follows.", show_default="10")
    ] = None,
    warn: Annotated[
        float | None,
        typer.Option("--warn", min=0, max=100, help="Tell the person below so many percent.", show_default="70"),
    ] = None,
    pause: Annotated[
        float | None,
        typer.Option("--pause", min=0, max=100, help="Pause them below so many percent.", show_default="50"),
    ] = None,
) -> None:
    """Mix pairs with a known grade into everybody's work, which nothing tells apart. They are never exported as work.

    Without --from they are settled pairs that a lead decided or people graded alike. Whoever is warned, and is below
    the same level again within a window, is paused; a lead lets them go on on the page People.

    Example: reelrank gold set my-project --share 0.05
    """
    options = api.GoldOptions(share, window, fewest, warn, pause)
    report = api.set_gold(api.open_project(folder), api.OPERATOR, options, key, pairs=pairs, now=now())
    _told(report)


def status(folder: Dir, json: Json = False) -> None:
    """What gold is chosen from, and how every annotator did with it.

    Example: reelrank gold status my-project
    """
    report, people = api.gold_results(api.open_project(folder), api.OPERATOR)
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
    """Mix no gold into anybody's work any more. Answers stay in the record, and pauses stand.

    Example: reelrank gold off my-project
    """
    ended = api.end_gold(api.open_project(folder), api.OPERATOR, now=now())
    say("No gold any more." if ended else "Nothing to do: no gold is mixed into anybody's work.")


def _told(report: "api.GoldReport") -> None:
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


def _row(one: "api.GoldPerson") -> tuple[object, ...]:
    share = "" if one.accuracy is None else f"{one.accuracy:.0f}"
    state = "paused" if one.pause else (one.findings[0].kind.value if one.findings else "")
    return (one.person.name, len(one.answers), one.within, one.counted, share, state, one.left)
