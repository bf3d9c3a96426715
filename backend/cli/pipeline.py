"""Commands from an empty folder to a release: init, candidates, export, status, ..."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR, Split
from backend.campaign.release.export.model import Adjudicated, QueryCounts, ReleaseOptions, ReleaseSelection
from backend.cli.commands import add_command
from backend.cli.options import (
    Cluster,
    Dir,
    EncoderOption,
    EncodingJobs,
    KindOption,
    ScaleOption,
    argument,
    list_option,
    option,
    typed,
    where,
    whole,
)
from backend.cli.output import first_of, now, progress_bar, say, say_each, seconds

if TYPE_CHECKING:
    from backend.campaign.release.export.exporting import FormReport
    from backend.campaign.release.export.freezing import ReleaseReport
    from backend.campaign.setup.project.folder import Project


_TOPS = typed("1,20,40")
_SHOWN = 5


@add_command("init")
def init(folder: Dir, encoder: EncoderOption = None, kind: KindOption = None, scale: ScaleOption = None) -> None:
    """Create an empty project.

    Example: reelrank init my-project --encoder minilm
    """
    from backend.campaign.setup.project.sentence_encoder import init_project

    project = init_project(folder, encoder=encoder, kind=kind, scale=scale)
    say(f"{folder} is a project now; its settings are in {folder / 'reelrank.toml'}.")
    say(f"Encoder: {project.settings.encoder}")
    if project.network_warning:
        say(project.network_warning)
    if scale:
        labels = ", ".join(f"{one.grade} {one.label}" for one in project.campaign.scale.meanings)
        within = project.campaign.tolerance
        say(f"Grades: {labels}; two agree if they {f'differ by at most {within}' if within else 'are equal'}.")
    say_next(project)
    say(f"With videos alone: reelrank moments {shlex.quote(str(folder))} --videos FOLDER --by shots")


def say_next(project: "Project") -> None:
    """Print the command that brings the project nearer to its first grade; nothing once people can grade."""
    from backend.campaign.review.status import next_step

    if step := next_step(project, OPERATOR):
        say(f"Next: {step}")
    if step.startswith("reelrank rewrite "):
        say(f"If no caption names a person: reelrank queries {shlex.quote(str(project.folder))} --val N --test N")


@add_command("export")
def export(
    folder: Dir,
    out: Annotated[Path, argument("OUT", "A new folder for the release.")],
    format_: Annotated[
        Literal["tvr-ranking", "trec", "parquet", "qvhighlights"], option("--format", "Form of the release.")
    ] = ("tvr-ranking"),
    with_published: Annotated[
        bool,
        option("--with-published-captions", "Add the published captions, which may name people, as published_caption."),
    ] = False,
    adjudicated: Annotated[
        Adjudicated,
        option("--adjudicated", "Include pairs that a lead adjudicated in the truth, marked, or leave them out."),
    ] = Adjudicated.INCLUDE,
    unfinished: Annotated[
        bool, option("--unfinished", "Include queries with pairs that still wait for grades.")
    ] = False,
    name: Annotated[
        str | None, option("--name NAME", "Name in `reelrank releases`. Default: the next release-N.")
    ] = None,
    notes: Annotated[str, option("--notes TEXT", "Notes to show with the name.")] = "",
    keep: Annotated[
        bool, option("--keep/--no-keep", "Also keep the release in the project, as a zip in releases/.")
    ] = True,
    threshold: Annotated[
        int | None, option("--threshold", "For qvhighlights: lowest relevance of a moment that becomes a window.")
    ] = None,
) -> None:
    """Freeze a release: truth, training sets, raw annotations.

    A manifest holds the hash of every file. Captions are the imprecise ones, if captions were rewritten. The same
    state of a project always gives the same bytes. Only the form tvr-ranking is kept in the project; the others are
    for other programs.

    Example: reelrank export my-project release-1 --format tvr-ranking
    """
    from backend.campaign.release.export.freezing import export_release

    start = now()
    options = ReleaseOptions(adjudicated, unfinished, with_published)
    if format_ != "tvr-ranking":
        if name is not None or notes:
            raise typer.BadParameter(f"{format_} is not kept, and has no name", param_hint="--name, --notes")
        _export_form(folder, out, format_, options, threshold)
        return
    if threshold is not None:
        raise typer.BadParameter("is of --format qvhighlights", param_hint="--threshold")
    with progress_bar() as progress:
        project = open_project(folder)
        report = export_release(
            project, OPERATOR, out, options, name=name, notes=notes, keep=keep, now=start, progress=progress
        )
    where = f", kept in {report.kept}" if report.kept else ""
    more = [f"Release {report.name}{', which was made before' if report.again else ''}{where}."]
    choose = (
        f"no licence is chosen, and the card says so. Choose one: reelrank releases terms {folder} --licence CC-BY-4.0"
    )
    _say_release(report, options, start, more, *([] if report.licence else [choose]))


def _export_form(folder: Path, out: Path, form: str, options: ReleaseOptions, threshold: int | None) -> None:
    """Write a form that is not kept."""
    from backend.campaign.release.export.exporting import export_form

    start = now()
    with progress_bar() as progress:
        project = open_project(folder)
        report = export_form(project, OPERATOR, out, form, options, threshold=threshold, progress=progress)
    more = []
    if report.windows is not None:
        more = [f"{report.windows:,} of the moments have relevance {report.threshold} or more, and are windows."]
    _say_release(report, options, start, more)


def _say_release(
    report: "ReleaseReport | FormReport", options: ReleaseOptions, start: float, more: list[str], *notes: str
) -> None:
    """What was written, more about it, and what is left out."""
    found = report.selection
    say(
        f"{report.place}: {found.count(Split.VAL)} validation and {found.count(Split.TEST)} test queries with "
        f"{found.moments} graded moments; {len(report.files)} files ({seconds(start)})."
    )
    for line in (*more, f"SHA-256 of its manifest: {report.sha256}"):
        say(line)
    _say_left_out(found, unfinished=options.unfinished)
    say_each("Note: {}", notes)
    if report.simulated:
        say(f"Note: {report.simulated} judgements in it are SIMULATED; this is not ground truth.")


def _say_left_out(found: ReleaseSelection, *, unfinished: bool) -> None:
    """Which queries and pairs are not in it, and which are that somebody may not expect."""
    if found.unfinished:
        take = "" if unfinished else " (--unfinished takes them too, where a pair is settled)"
        say(f"Note: left out {_queries(found.unfinished)} whose pairs still wait for grades{take}.")
    if found.unfinished_within:
        say(f"Note: {_queries(found.unfinished_within)} in it still have pairs that wait for grades.")
    if found.without_relevance:
        say(f"Note: left out {_queries(found.without_relevance)} without a pair that could be truth.")
    if found.adjudicated_left_out:
        say(f"Note: left out {found.adjudicated_left_out} pairs that a lead decided on.")


def _queries(queries: Sequence[QueryCounts]) -> str:
    """How many, and the first of them by number."""
    return f"{len(queries)} queries ({first_of([query.query_id for query in queries], _SHOWN, ', ...')})"


@add_command("pseudo-train")
def pseudo_train(
    folder: Dir,
    out: Annotated[Path, argument("OUT", "Folder for the files.")],
    top: Annotated[list[int], list_option("--top N,N", "Number of moments per training query.", int)] = _TOPS,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write pseudo training sets: the top moments of each query.

    Example: reelrank pseudo-train my-project train --top 1,20,40
    """
    from backend.campaign.release.export.freezing import write_pseudo_train

    if min(top) < 1:
        raise typer.BadParameter("sizes are 1 or more", param_hint="--top")
    with progress_bar() as progress:
        project = open_project(whole(folder, cluster))
        encoding = where(jobs, cluster, usual=1)
        for path in write_pseudo_train(project, out, tops=top, where=encoding, progress=progress):
            say(str(path))
