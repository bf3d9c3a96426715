"""Commands from an empty folder to a release: init, candidates, export, status, ..."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from backend import api
from backend.cli.output import (
    Dir,
    EncoderOption,
    Json,
    KindOption,
    ScaleOption,
    now,
    numbers,
    progress_bar,
    say,
    seconds,
    table,
)


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("init")(init)
    app.command("status")(status)
    app.command("export")(export)
    app.command("pseudo-train")(pseudo_train)


def init(folder: Dir, encoder: EncoderOption = None, kind: KindOption = None, scale: ScaleOption = None) -> None:
    """Make an empty project.

    Example: reelrank init my-project --encoder minilm
    """
    project = api.init_project(folder, encoder=encoder, kind=kind, scale=scale)
    say(f"{folder} is a project now; its settings are in {folder / 'reelrank.toml'}.")
    say(f"Encoder: {project.settings.encoder}")
    if scale:
        labels = ", ".join(f"{one.grade} {one.label}" for one in project.campaign.scale.meanings)
        within = project.campaign.tolerance
        say(f"Grades: {labels}; two agree if they {f'differ by at most {within}' if within else 'are equal'}.")
    say(f"Next: {api.next_step(project, api.OPERATOR)}")


def status(folder: Dir, json: Json = False) -> None:
    """Show counts per stage; equal to what the screens show.

    Example: reelrank status my-project --json
    """
    counts = api.status_counts(api.open_project(folder), api.OPERATOR)
    if json:
        say(msgspec.json.encode(counts).decode())
        return
    table(("stage", "what", "count"), [row for row in _rows(counts)])
    say(f"\nencoder {counts['encoder'] or '(no candidates yet)'}\nschema {counts['schema']}")
    if counts["simulated"]:
        say(f"{counts['simulated']} of the judgements are SIMULATED.")


def _rows(counts: dict[str, Any]) -> list[tuple[str, str, int]]:
    rows: list[tuple[str, str, int]] = []
    for stage, value in counts.items():
        if isinstance(value, dict):
            rows += [(stage, str(what), count) for what, count in value.items()]
        elif isinstance(value, int) and stage != "simulated":
            rows.append((stage, "", value))
    return rows


class ReleaseFormat(StrEnum):
    """Forms of a release."""

    TVR_RANKING = "tvr-ranking"


def export(
    folder: Dir,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder for the release.", show_default=False)],
    format_: Annotated[ReleaseFormat, typer.Option("--format", help="Form of the release.")] = (
        ReleaseFormat.TVR_RANKING
    ),
    with_published: Annotated[
        bool,
        typer.Option(
            "--with-published-captions", help="Add the published captions, which may name people, as published_caption."
        ),
    ] = False,
) -> None:
    """Freeze a release: truth, pseudo training sets, raw annotations, manifest with hashes.

    Captions in it are the imprecise ones, if captions were rewritten.

    Example: reelrank export my-project release-1 --format tvr-ranking
    """
    start = now()
    with progress_bar() as progress:
        report = api.export_release(
            api.open_project(folder),
            api.OPERATOR,
            out,
            with_published=with_published,
            now=start,
            progress=progress,
        )
    say(
        f"{report.folder}: {report.val_queries} validation and {report.test_queries} test queries with "
        f"{report.moments} graded moments; {len(report.files)} files ({seconds(start)})."
    )
    if report.unsettled or report.left_out:
        say(f"Note: {report.unsettled} pairs are not settled yet, {report.left_out} queries have no settled pair.")
    if report.simulated:
        say(f"Note: {report.simulated} judgements in it are SIMULATED; this is not ground truth.")


def pseudo_train(
    folder: Dir,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the files.", show_default=False)],
    top: Annotated[str, typer.Option("--top", metavar="N,N", help="Moments a training query.")] = "1,20,40",
) -> None:
    """Write pseudo training sets: the most similar moments of each training query.

    Example: reelrank pseudo-train my-project train --top 1,20,40
    """
    tops = [int(value) for value in numbers(top, int, "--top")]
    if min(tops) < 1:
        raise typer.BadParameter("sizes are 1 or more", param_hint="--top")
    with progress_bar() as progress:
        for path in api.write_pseudo_train(api.open_project(folder), out, tops=tops, progress=progress):
            say(str(path))
