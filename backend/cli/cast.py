"""The command `cast`: who is in the captions."""

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.output import Dir, now, progress_bar, say, seconds, table

SHOWN = 12
"""So many new names are printed; the file has all."""
EXAMPLE = 48
"""Characters of an example on the screen."""


def register(app: typer.Typer) -> None:
    """Add this command to the command line."""
    app.command("cast")(cast)


def cast(folder: Dir) -> None:
    """Propose a name mapping: what each name in captions becomes.

    Writes DIR/cast.csv: each name with its number of captions, its replacement and an example. Correct the
    replacements: write another phrase, or the name itself if it is no person and stays. Write nothing if you cannot
    say, and its captions wait. Running the command again keeps all lines and adds new names. Entries under [cast]
    in reelrank.toml take precedence.

    Example: reelrank cast my-project
    """
    from backend.campaign.corpus.captions.name_mapping import propose_cast

    start = now()
    project = open_project(folder)
    with progress_bar() as progress:
        report = propose_cast(project, OPERATOR, progress=progress)
    if report.new:
        rows = [(line.name, line.becomes or "?", line.count, _short(line.example)) for line in report.new[:SHOWN]]
        table(("name", "becomes", "captions", "example"), rows, left=(True, True, False, True))
        if len(report.new) > SHOWN:
            say(f"... and {len(report.new) - SHOWN:,} more.")
    say(
        f"{report.file}: {report.names:,} names, {len(report.new):,} of them new ({seconds(start)}): "
        f"{report.men:,} men, {report.women:,} women, {report.persons:,} persons, {report.others:,} others, "
        f"{report.undecided:,} undecided."
    )
    say(f"Correct the column becomes, then run: reelrank rewrite {folder}")


def _short(example: str) -> str:
    return example if len(example) <= EXAMPLE else example[: EXAMPLE - 1].rstrip() + "…"
