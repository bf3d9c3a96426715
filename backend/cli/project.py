"""Commands for a whole project: `reelrank status`, `doctor`, `backup`, `restore`, `migrate` and `move`."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from backend.api import open_project
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command, add_group
from backend.cli.options import Dir, FirstDay, Json, LastDay, argument, day_of, option
from backend.cli.output import counted, end_with_json, first_of, json_text, now, save, say, seconds, table, tell_written
from backend.core.days import end_of_day, instant, start_of_day
from backend.core.events import EventGroup


@add_command("backup")
def backup(folder: Dir, file: Annotated[Path, argument("FILE", "The copy to make.")]) -> None:
    """Copy the database while people work.

    The copy is consistent. With PostgreSQL, pg_dump writes a FILE that ends in .dump.

    Example: reelrank backup my-project backups/monday.db
    """
    from backend.campaign.doctor import database

    database.backup(open_project(folder), file)
    say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


@add_command("restore")
def restore(folder: Dir, file: Annotated[Path, argument("FILE", "A copy made by `reelrank backup`.")]) -> None:
    """Replace the database with a backup.

    Stop the server first. The replaced database is kept beside the new one.

    Example: reelrank restore my-project backups/monday.db
    """
    from backend.campaign.doctor import database

    report = database.restore(folder, file, now=now())
    before, after = report.before or {}, report.after
    table(("rows", "before", "now"), [(name, before.get(name, "?"), count) for name, count in after.items()])
    say(f"\nRestored the database of {folder} from {file}.")
    if report.kept:
        say(f"The replaced database is kept in {report.kept}.")
    if report.pending:
        say(f"The backup is from an older ReelRank. Next: reelrank migrate {folder}")


@add_command("migrate")
def migrate(folder: Dir) -> None:
    """Upgrade the database of an older ReelRank.

    Stop the server first. The database is copied before it changes. With
    PostgreSQL, servers may run: people are told to wait until you restart them.

    Example: reelrank migrate my-project
    """
    from backend.campaign.doctor import database

    applied, copy = database.migrate(folder)
    if not applied:
        say("Nothing to do: the database is up to date.")
    else:
        say(f"Applied {', '.join(applied)}. A copy of the old database is kept in {copy}.")


@add_command("move")
def move(
    folder: Dir,
    target: Annotated[
        str, argument("ADDRESS", "postgresql://user@host/name of an empty database; or `file`, to move back.")
    ],
) -> None:
    """Move the database to PostgreSQL, or back to a file.

    Stop the server first. Every row is compared. A move that fails leaves everything as it was.

    Example: reelrank move my-project postgresql://reelrank@db.example/campaign
    """
    from backend.campaign.doctor import database

    rows, old_file = database.move(folder, target, now=now())
    say(f"Moved {sum(rows.values()):,} rows of {len(rows)} tables, and compared each.")
    if old_file:
        say(f"reelrank.toml has the address, without a password. The old database file is kept in {old_file}.")
    else:
        say("The PostgreSQL database is unchanged. Drop it when you no longer need it.")


@add_command("doctor")
def doctor(
    folder: Dir,
    json: Json = False,
    repair: Annotated[
        bool, option("--repair", "Rebuild consensus and agenda if they are wrong, and remove orphaned clips.")
    ] = False,
    remove_copies: Annotated[
        int | None, option("--remove-copies DAYS", "Delete replaced databases (before-...) that are this old.", min=0)
    ] = None,
) -> None:
    """Check that a project is consistent, or repair it.

    The exit code is 1 if something is wrong. A repair changes only what can be computed again. It never changes
    judgements, the log, or which annotators work on which pairs.

    Example: reelrank doctor my-project
    """
    from backend.campaign.doctor import database, examination

    start = time.monotonic()
    if remove_copies is not None:
        old = database.remove_former_databases(folder, days=remove_copies, now=now())
        if not json:
            say(f"Removed {counted(len(old), 'replaced database')} ({sum(copy.megabytes for copy in old):.1f} MB).")
    report = examination.doctor(open_project(folder), now=now(), repair=repair)
    if json:
        checked = {"well": report.well, "checks": report.checks, "findings": report.findings}
        say(json_text({**checked, "predicted_clips": report.predicted_clips}))
    else:
        for finding in report.findings:
            examples = "; ".join(finding.examples)
            more = " ..." if finding.count > len(finding.examples) else ""
            say(f"{finding.check}: {finding.count} found: {examples}{more}")
            say(f"  Repaired. {finding.meaning}" if finding.repaired else f"  {finding.meaning}")
        if report.predicted_clips:
            say(f"cache/clips has {report.predicted_clips:,} clips of predictions; they are deleted when it is full.")
        problems = counted(len(report.findings), "problem") + " found" if report.findings else "nothing found"
        say(f"{len(report.checks)} checks, {problems} ({seconds(start)}).")
    raise typer.Exit(0 if report.well else 1)


def show(
    folder: Dir,
    verbose: Annotated[
        bool, option("--verbose", "Also print the exact models and the version of the database.")
    ] = False,
    json: Json = False,
) -> None:
    """Show how many captions, queries, grades and so on there are.

    The counts are grouped by stage of the campaign. The pages of the web app show the same counts. The keys of --json
    stay the same from version to version.

    Example: reelrank status show my-project --json

    Example: reelrank status my-project
    """
    from backend.campaign.doctor.database import former_databases
    from backend.campaign.review.status import status_counts

    counts = status_counts(open_project(folder), OPERATOR)
    if json:
        end_with_json(counts)
    table(("stage", "what", "count"), [row for row in _rows(counts)])
    # What follows the name of a model is the hash of its weights.
    names = counts["sources"] if verbose else [name.partition(" kind=")[0] for name in counts["sources"]]
    say(f"\nCandidates from: {', '.join(names) or 'none yet'}")
    if verbose:
        say(f"Encoder: {counts['encoder'] or 'none yet'}\nVersion of the database: {counts['schema']}")
    if counts["simulated"]:
        say(f"{counts['simulated']:,} of the judgements are SIMULATED.")
    if kept := former_databases(folder):
        size = sum(copy.megabytes for copy in kept)
        say(
            f"{counted(len(kept), 'replaced database is', 'replaced databases are')} kept, {size:.1f} MB: "
            f"{first_of([copy.file.name for copy in kept], 3)}. `reelrank doctor {folder} --remove-copies 30` "
            "deletes those that are 30 days old."
        )


_STAGES = {"moments_from": "moments", "batches": "queries"}
"""Stages whose names differ from the keys of the JSON."""
_WORDS = {
    "consensus": "settled by annotators",
    "adjudicated": "settled by a lead",
    "escalated": "disputed",
    "discarded": "discarded",
    "blocked": "blocked: the clip cannot be shown",
    "set_aside": "reserved for an exam or a calibration round",
}
"""Names of pair states that differ from the keys of the JSON."""


def _rows(counts: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    rows: list[tuple[str, str, int]] = []
    for stage, value in counts.items():
        if stage == "queries_by_batches":
            rows += [
                ("queries", f"{split}, with {number} {'batch' if number == '1' else 'batches'}", count)
                for split, numbers in value.items()
                for number, count in numbers.items()
            ]
        elif isinstance(value, dict):
            words = {key: f"with batch {key} open" for key in value} if stage == "batches" else _WORDS
            rows += [(_STAGES.get(stage, stage), words.get(key, str(key)), count) for key, count in value.items()]
        elif isinstance(value, int) and stage != "simulated":
            rows.append((stage, "", value))
    return rows


def settings(folder: Dir, json: Json = False) -> None:
    """List every setting: its value, since when, and who set it.

    With --json also what each setting changes, and where to change it.

    Example: reelrank status settings my-project
    """
    from backend.campaign.monitoring.activity.log import campaign_settings

    entries = campaign_settings(open_project(folder), OPERATOR)
    if json:
        end_with_json(entries)
    rows = [
        (row.name, row.value, "the beginning" if row.since is None else instant(row.since), row.by or "")
        for row in entries
    ]
    table(("setting", "now", "since (UTC)", "by"), rows)


def log(
    folder: Dir,
    about: Annotated[
        EventGroup | None, option("--about", "Only this kind. Default: all but grades and the desk.")
    ] = None,
    by: Annotated[str, option("--by NAME", "Only actions of this user.")] = "",
    search: Annotated[
        str, option("--search WORDS", "Only entries with these words: of a query, a reason, a file.")
    ] = "",
    first: FirstDay = None,
    last: LastDay = None,
    most: Annotated[int, option("--most", "Number of entries to show.", min=1)] = 50,
    csv: Annotated[Path | None, option("--csv FILE", "Write all matching entries to a file.")] = None,
    json: Json = False,
) -> None:
    """List who did what and when, newest first.

    Example: reelrank status log my-project --about decisions --by Lea --from 2026-03-01
    """
    from backend.campaign.monitoring.activity.log import activity_csv, count_activity, find_activity

    since, until = day_of(first, "--from"), day_of(last, "--to")
    project = open_project(folder)
    chosen = ActivityFilter(
        about, by, start_of_day(since) if since else None, end_of_day(until) if until else None, search.strip()
    )
    if csv is not None:
        save(csv, activity_csv(project, OPERATOR, chosen))
    entries = find_activity(project, OPERATOR, chosen, first=0, most=most)
    count = count_activity(project, OPERATOR, chosen)
    if json:
        say(json_text({"count": count, "entries": entries}))
        tell_written([csv], data=True)
        return
    table(
        ("when (UTC)", "who", "what", "about"),
        [(instant(entry.at), entry.by or "no person", entry.words, entry.about) for entry in entries],
    )
    if count > len(entries):
        say(f"\n{count - len(entries):,} earlier entries: --most shows more, --csv writes all.")
    if csv is not None:
        say(f"\nWritten: {csv}, {counted(count, 'entry', 'entries')}.")


add_group(
    "status",
    "Show where a campaign stands, its settings and its log.",
    "my-project",
    {"show": show, "settings": settings, "log": log},
    default="show",
)
