"""Who did what and when, and how a campaign is set up: `reelrank log`, `reelrank settings`."""

from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.campaign.activity.model import ActivityFilter, ActivityGroup
from backend.cli.output import Dir, FirstDay, Json, LastDay, day_of, json_text, save, say, table, tell_written
from backend.ground.days import began, ended, instant


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("log")(log)
    app.command("settings")(settings)


def log(
    folder: Dir,
    about: Annotated[
        ActivityGroup | None,
        typer.Option("--about", help="Only this; else all but grades and the desk."),
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Only what this person did.")] = "",
    search: Annotated[str, typer.Option("--search", metavar="WORDS", help="Words of a query, a reason, a file.")] = "",
    first: FirstDay = None,
    last: LastDay = None,
    most: Annotated[int, typer.Option("--most", min=1, help="How many entries are told.")] = 50,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write all of them to a file.")] = None,
    json: Json = False,
) -> None:
    """Who did what and when, the newest first.

    Example: reelrank log my-project --about decisions --by Lea --from 2026-03-01
    """
    since, until = day_of(first, "--from"), day_of(last, "--to")
    project = api.open_project(folder)
    wanted = ActivityFilter(about, by, began(since) if since else None, ended(until) if until else None, search.strip())
    if csv is not None:
        save(csv, api.activity_csv(project, api.OPERATOR, wanted))
    found = api.find_activity(project, api.OPERATOR, wanted, first=0, most=most)
    count = api.count_activity(project, api.OPERATOR, wanted)
    if json:
        say(json_text({"count": count, "entries": found}))
        tell_written([csv], data=True)
        return
    table(
        ("when (UTC)", "who", "what", "about"),
        [(instant(one.at), one.by or "no person", one.words, one.about) for one in found],
    )
    if count > len(found):
        say(f"\nAnd {count - len(found):,} before that: --most tells more, --csv writes all.")
    if csv is not None:
        say(f"\n{csv}: {count:,} entries.")


def settings(folder: Dir, json: Json = False) -> None:
    """Every setting of the campaign in words: its value, what it changes, since when, and where it is changed.

    Example: reelrank settings my-project
    """
    found = api.campaign_settings(api.open_project(folder), api.OPERATOR)
    if json:
        say(json_text(found))
        return
    rows = [
        (one.name, one.value, "the beginning" if one.since is None else instant(one.since), one.by or "")
        for one in found
    ]
    table(("setting", "now", "since (UTC)", "by"), rows)
