"""The command candidates: which moments are judged for a query."""

from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, EncoderOption, KindOption, now, progress_bar, say, seconds


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command("candidates")(candidates)


def candidates(
    folder: Dir,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            metavar="1..40",
            help="Candidates a batch; 20 unless told.",
            min=1,
            max=40,
            show_default=False,
        ),
    ] = None,
    encoder: EncoderOption = None,
    kind: KindOption = None,
    dtype: Annotated[
        str | None,
        typer.Option(
            "--dtype",
            metavar="fp32|bf16",
            help="What the encoder computes in: bf16 is faster on many processors, and recorded as another encoder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Choose the most similar moments of each query and open batch 1 for judging.

    Example: reelrank candidates my-project --batch-size 20 --encoder minilm
    """
    start = now()
    project = api.open_project(folder)
    if encoder or dtype:
        project = api.choose_encoder(project, encoder, kind, dtype=dtype)
    with progress_bar() as progress:
        report = api.choose_candidates(project, batch_size=batch_size, now=start, progress=progress)
    say(
        f"{report.queries} queries, {report.candidates} candidates, {report.pairs} pairs open for judging "
        f"({seconds(start)})."
    )
    say(f"Encoder: {report.encoder}")
    if report.without_file:
        say(f"Note: {report.without_file:,} videos have no file yet; import again with --videos before judging.")
    if report.split_ties:
        say(f"Note: in {report.split_ties} queries the cut leaves out moments with the same text as a chosen one.")
