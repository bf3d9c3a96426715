"""Where a campaign stands: `reelrank status DIR`, `reelrank status settings|log DIR`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from backend.api import open_project
from backend.campaign.monitoring.activity.model import ActivityFilter, ActivityGroup
from backend.campaign.nouns import OPERATOR
from backend.cli.groups import ShowByDefault, add_group
from backend.cli.output import Dir, FirstDay, Json, LastDay, day_of, json_text, save, say, table, tell_written
from backend.core.days import began, ended, instant


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "status",
        "Show where a campaign stands, its settings and its log.",
        "my-project",
        {"show": show, "settings": settings, "log": log},
        ShowByDefault,
    )


def show(folder: Dir, json: Json = False) -> None:
    """Show the counts of each stage, equal to those on the pages.

    Example: reelrank status show my-project --json, or for short: reelrank status my-project --json
    """
    from backend.campaign.review.status import status_counts

    counts = status_counts(open_project(folder), OPERATOR)
    if json:
        say(json_text(counts))
        return
    table(("stage", "what", "count"), [row for row in _rows(counts)])
    say(f"\ncandidates from {', '.join(counts['sources']) or '(none yet)'}\nschema {counts['schema']}")
    if counts["simulated"]:
        say(f"{counts['simulated']} of the judgements are SIMULATED.")


def _rows(counts: dict[str, Any]) -> list[tuple[str, str, int]]:
    rows: list[tuple[str, str, int]] = []
    for stage, value in counts.items():
        if stage == "queries_by_batches":
            rows += [
                ("queries", f"{split}, with {number} {'batch' if number == '1' else 'batches'}", count)
                for split, numbers in value.items()
                for number, count in numbers.items()
            ]
        elif isinstance(value, dict):
            rows += [(stage, str(what), count) for what, count in value.items()]
        elif isinstance(value, int) and stage != "simulated":
            rows.append((stage, "", value))
    return rows


def settings(folder: Dir, json: Json = False) -> None:
    """List every setting: its value, since when, and who set it.

    With --json also what each setting changes, and where to change it.

    Example: reelrank status settings my-project
    """
    from backend.campaign.monitoring.activity.log import campaign_settings

    found = campaign_settings(open_project(folder), OPERATOR)
    if json:
        say(json_text(found))
        return
    rows = [
        (one.name, one.value, "the beginning" if one.since is None else instant(one.since), one.by or "")
        for one in found
    ]
    table(("setting", "now", "since (UTC)", "by"), rows)


def log(
    folder: Dir,
    about: Annotated[
        ActivityGroup | None,
        typer.Option("--about", help="Only this kind. Default: all but grades and the desk."),
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Only actions of this user.")] = "",
    search: Annotated[
        str,
        typer.Option("--search", metavar="WORDS", help="Only entries with these words: of a query, a reason, a file."),
    ] = "",
    first: FirstDay = None,
    last: LastDay = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Number of entries to show.")] = 50,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write all matching entries to a file.")
    ] = None,
    json: Json = False,
) -> None:
    """List who did what and when, newest first.

    Example: reelrank status log my-project --about decisions --by Lea --from 2026-03-01
    """
    from backend.campaign.monitoring.activity.log import activity_csv, count_activity, find_activity

    since, until = day_of(first, "--from"), day_of(last, "--to")
    project = open_project(folder)
    wanted = ActivityFilter(about, by, began(since) if since else None, ended(until) if until else None, search.strip())
    if csv is not None:
        save(csv, activity_csv(project, OPERATOR, wanted))
    found = find_activity(project, OPERATOR, wanted, first=0, most=most)
    count = count_activity(project, OPERATOR, wanted)
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
