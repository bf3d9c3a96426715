"""Which moments are judged for a query, and how deep judging has to go."""

from pathlib import Path
from typing import Annotated

import typer

from backend import api
from backend.cli.output import Dir, EncoderOption, KindOption, now, progress_bar, say, seconds, table


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("candidates")(candidates)
    app.command("probe-figures")(probe_figures)


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
    probe: Annotated[
        int,
        typer.Option(
            "--probe",
            metavar="N",
            help="For N queries also judge their top 60 and 60 other moments, to see how deep judging has to go.",
            min=0,
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of the draw of these queries and moments.")] = 0,
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
        project = api.choose_encoder(project, api.OPERATOR, encoder, kind, dtype=dtype)
    with progress_bar() as progress:
        report = api.choose_candidates(
            project, api.OPERATOR, batch_size=batch_size, probe=probe, seed=seed, now=start, progress=progress
        )
    say(
        f"{report.queries} queries, {report.candidates} candidates, {report.pairs} pairs open for judging "
        f"({seconds(start)})."
    )
    if report.probed:
        say(
            f"{report.probed} of the queries are probed: {report.probe_pairs} further pairs, which no release holds. "
            f"Once they are judged: reelrank probe-figures {folder} OUT"
        )
    say(f"Encoder: {report.encoder}")
    if report.without_file:
        say(f"Note: {report.without_file:,} videos have no file yet; import again with --videos before judging.")
    if report.split_ties:
        say(f"Note: in {report.split_ties} queries the cut leaves out moments with the same text as a chosen one.")


def probe_figures(
    folder: Dir,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the files.", show_default=False)],
) -> None:
    """Draw the relevance of probe pairs against their similarity and their rank, with the mean of each bin.

    Example: reelrank probe-figures my-project probe
    """
    report = api.write_probe_figures(api.open_project(folder), api.OPERATOR, out)
    say(f"{report.settled} of {report.pairs} pairs of {report.queries} probed queries have a relevance.")
    table(
        ("rank", "pairs", "mean relevance"),
        [(part.name, part.pairs, f"{part.mean:.2f}") for part in report.by_rank],
    )
    say(f"Written: {', '.join(map(str, report.files))}")
