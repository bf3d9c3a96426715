"""Commands that keep a project whole: backup, restore, migrate, doctor."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.cli.output import Dir, Json, json_text, now, say, seconds, table


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("backup")(backup)
    app.command("restore")(restore)
    app.command("migrate")(migrate)
    app.command("move")(move)
    app.command("doctor")(doctor)


def backup(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to make.", show_default=False)],
) -> None:
    """Copy the database while people work.

    The copy is consistent. For a database in PostgreSQL, a FILE that ends in .dump is made by pg_dump.

    Example: reelrank backup my-project backups/monday.db
    """
    from backend.campaign.doctor import database

    database.backup(open_project(folder), file)
    say(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


def restore(
    folder: Dir,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A copy made by `reelrank backup`.", show_default=False)],
) -> None:
    """Replace the database with a backup.

    Stop the server first. The replaced database is kept beside the new one.

    Example: reelrank restore my-project backups/monday.db
    """
    from backend.campaign.doctor import database

    report = database.restore(folder, file, now=now())
    before, after = report.before or {}, report.after
    table(("rows", "before", "now"), [(name, before.get(name, "?"), count) for name, count in after.items()])
    say(f"\nThe database of {folder} is what {file} was.")
    if report.kept:
        say(f"The state before is kept in {report.kept}.")
    if report.pending:
        say(f"It has an older schema. Next: reelrank migrate {folder}")


def migrate(folder: Dir) -> None:
    """Upgrade the database of an older ReelRank.

    Stop the server first. The database is copied before it changes.

    Example: reelrank migrate my-project
    """
    from backend.campaign.doctor import database

    applied, copy = database.migrate(folder)
    if not applied:
        say("Nothing to do: the database is up to date.")
    else:
        say(f"Applied {', '.join(applied)}. The state before is kept in {copy}.")


def move(
    folder: Dir,
    target: Annotated[
        str,
        typer.Argument(
            metavar="ADDRESS", help="postgresql://user@host/name of an empty database; or `file`, to move back."
        ),
    ],
) -> None:
    """Move the database to PostgreSQL, or back to a file.

    Stop the server first. Every row is compared. A move that fails leaves everything as it was.

    Example: reelrank move my-project postgresql://reelrank@db.example/campaign
    """
    from backend.campaign.doctor import database

    rows, kept = database.move(folder, target, now=now())
    say(f"{sum(rows.values()):,} rows of {len(rows)} tables are where they should be, each compared.")
    if kept:
        say(f"reelrank.toml names the address, without a password. The file that was the database is kept in {kept}.")
    else:
        say("The tables at the address are as they were: drop that database when you are sure.")


def doctor(
    folder: Dir,
    json: Json = False,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Rebuild consensus and agenda if they are wrong, and remove orphaned clips."),
    ] = False,
) -> None:
    """Check that a project is consistent, or repair it.

    The exit code is 1 if something is wrong. Judgements, seats and events never change, not even with --repair.

    Example: reelrank doctor my-project
    """
    from backend.campaign.doctor import examination

    start = now()
    report = examination.doctor(open_project(folder), now=start, repair=repair)
    if json:
        told = {"well": report.well, "checks": report.checks, "findings": report.findings}
        say(json_text({**told, "predicted_clips": report.predicted_clips}))
    else:
        for finding in report.findings:
            examples = "; ".join(finding.examples)
            more = " ..." if finding.count > len(finding.examples) else ""
            say(f"{finding.check}: {finding.count} found: {examples}{more}")
            say(f"  Repaired. {finding.meaning}" if finding.repaired else f"  {finding.meaning}")
        if report.predicted_clips:
            say(f"cache/clips holds {report.predicted_clips:,} clips of predictions; they go when it is full.")
        found = f"{len(report.findings)} of them found something" if report.findings else "nothing found"
        say(f"{len(report.checks)} checks, {found} ({seconds(start)}).")
    raise typer.Exit(0 if report.well else 1)
