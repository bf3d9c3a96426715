"""The command queries: drawn, brought, taken back."""

from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.selection.queries.model import Repeats, Stratum
from backend.cli.output import Dir, now, save, say, seconds
from backend.cli.pipeline import say_next


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("queries")(queries)


def queries(
    folder: Dir,
    val: Annotated[
        int | None, typer.Option("--val", metavar="N", help="Validation queries to draw.", min=0, show_default=False)
    ] = None,
    test: Annotated[
        int | None, typer.Option("--test", metavar="N", help="Test queries to draw.", min=0, show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the random draw.")] = 0,
    own: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="File of your own queries: text with one query per line, or CSV with the columns text and split, and "
            "optionally source.",
            show_default=False,
        ),
    ] = None,
    split: Annotated[Split, typer.Option("--split", help="Split of the queries in a text file given with --from.")] = (
        Split.TEST
    ),
    stratify: Annotated[
        Stratum | None,
        typer.Option(
            "--stratify", help="Draw from videos or shows in proportion to their number of texts.", show_default=False
        ),
    ] = None,
    show_of: Annotated[
        str | None,
        typer.Option(
            "--show-of",
            metavar="REGEX",
            help="Its first group is the show in a video's name. Default: the part before s01e02.",
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[
        Repeats,
        typer.Option(
            "--train-repeats", help="Keep training captions with the same text as separate queries, or merge them."
        ),
    ] = Repeats.KEEP,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo", help="Remove all queries with their candidates and pairs, if nobody has worked on them."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, show the first queries, and write nothing.")
    ] = False,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="FILE.csv",
            help="Only write the validation and test queries with the ids that runs use.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw validation and test queries, or add your own.

    They are drawn from the imprecise captions. The other captions become training queries.

    Example: reelrank queries my-project --val 500 --test 2781 --seed 7
    """
    from backend.campaign.review.queries import take_back_queries
    from backend.campaign.selection.queries.drawing import draw_queries, queries_csv

    start = now()
    drawing = val is not None or test is not None
    if write is not None:
        if drawing or own or dry_run or undo:
            raise typer.BadParameter("draw the queries first, then write them", param_hint="--write")
        save(write, queries_csv(open_project(folder), OPERATOR))
        say(f"Written: {write}. Runs of these queries can be pooled: reelrank candidates {folder} --pool RUN.json")
        return
    if undo:
        if drawing or own or dry_run:
            raise typer.BadParameter("take the queries back first, then draw anew", param_hint="--undo")
        gone = take_back_queries(open_project(folder), OPERATOR, now=start)
        say(f"Taken back: {gone.queries:,} queries, {gone.candidates:,} candidates, {gone.pairs:,} pairs.")
        return
    if not drawing and own is None:
        raise typer.BadParameter("say how many to draw with --val N and --test N, or bring your own with --from FILE")
    project = open_project(folder)
    report = draw_queries(
        project,
        OPERATOR,
        val=val or 0,
        test=test or 0,
        seed=seed,
        own=own,
        own_split=split,
        stratum=stratify,
        show_of=show_of,
        repeats=repeats,
        dry_run=dry_run,
        now=start,
    )
    if dry_run:
        say("Nothing was written; it would be:")
        for text, of in report.first:
            say(f"  {of.value}: {text}")
    of_file = f", {report.own:,} of them from {own.name}" if own else ""
    say(
        f"{report.val:,} validation, {report.test:,} test and {report.train:,} training queries{of_file}, "
        f"seed {seed} ({seconds(start)})."
    )
    if report.removed:
        say(f"Removed from training: {report.removed:,} captions with the text of a validation or test query.")
    if report.repeats:
        say(f"{report.repeats:,} training queries repeat the text of another (--train-repeats merge makes them one).")
    if report.merged:
        say(f"{report.merged:,} training captions were merged with another of the same text.")
    if not report.rewritten:
        say(
            "Note: the captions were taken as published. "
            "To make them imprecise, run `reelrank rewrite` before you draw queries (--undo takes these back)."
        )
    if not dry_run:
        say_next(project)
