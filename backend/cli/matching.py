"""The command match-run: a run for programs of TREC."""

from pathlib import Path
from typing import Annotated

import typer

from backend.cli.output import now, save, say, seconds, tell_written


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("match-run")(match_run)


def match_run(
    out: Annotated[Path, typer.Argument(metavar="OUT.trec", help="The run to write.", show_default=False)],
    truth: Annotated[
        Path, typer.Option("--truth", metavar="FILE|DIR", help="Graded truth, or a release.", show_default=False)
    ],
    run: Annotated[Path, typer.Option("--run", metavar="FILE", help="Ranked predictions.", show_default=False)],
    mu: Annotated[float, typer.Option("--mu", help="Lowest IoU at which a prediction takes a moment.")] = 0.5,
    videos: Annotated[
        Path | None,
        typer.Option(
            "--videos", metavar="MAP|DIR", help="`name -> [duration, index]` or a release, for runs with video indices."
        ),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", metavar="FILE", help="Write the truth to this file, with the same ids.")
    ] = None,
) -> None:
    """Convert a run for ir_measures or trec_eval.

    Each prediction gets the id of the pair that it takes. With the qrels, nDCG@K of these programs is NDCG@K,
    IoU>=mu of preset `paper`. Write one file for each mu.

    Example: reelrank match-run --truth val.json --run mine.json --mu 0.5 mine.trec --qrels val.qrels
    """
    from backend.scoring import trec

    start = now()
    for place in (out, qrels):
        if place is not None and place.exists():
            raise typer.BadParameter(f"{place} exists already: name a new file")
    found = trec.match_run(truth, run, mu, videos=videos)
    save(out, found.run)
    if qrels is not None:
        save(qrels, found.qrels)
    say(
        f"{out}: {found.predictions:,} predictions of {found.queries:,} queries, {found.taken:,} of which take a pair "
        f"at IoU >= {mu:g} ({seconds(start)})."
    )
    tell_written([qrels])
    if found.missing:
        say(f"Note: {found.missing:,} queries of the truth are not in the run, and count 0.")
    for warning in found.warnings:
        say(f"Warning: {warning}")
