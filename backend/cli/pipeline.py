"""Commands that begin and end a campaign: `reelrank init`, `export` and `pseudo-train`."""

import shlex
import time
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
from backend.cli.output import counted, first_of, now, progress_bar, say, say_each, seconds

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
    say(f"Created the project {folder}. Its settings are in {folder / 'reelrank.toml'}.")
    say(f"Encoder: {project.settings.encoder}")
    if project.network_warning:
        say(project.network_warning)
    if scale:
        labels = ", ".join(f"{meaning.grade} {meaning.label}" for meaning in project.campaign.scale.meanings)
        within = project.campaign.tolerance
        say(f"Grades: {labels}; two agree if they {f'differ by at most {within}' if within else 'are equal'}.")
    say_next(project)
    say(f"With videos alone: reelrank moments {shlex.quote(str(folder))} --videos FOLDER --by shots")


def say_next(project: "Project") -> None:
    """Print the command to run next, while annotators cannot grade yet; print nothing once they can."""
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
        Literal["tvr-ranking", "trec", "parquet", "qvhighlights"], option("--format", "Format of the release.")
    ] = "tvr-ranking",
    with_published: Annotated[
        bool,
        option("--with-published-captions", "Add the published captions, which may name people, as published_caption."),
    ] = False,
    with_model_grades: Annotated[
        bool,
        option(
            "--with-model-grades", "Add what `reelrank judge` got from models, in model-grades.json, not in the truth."
        ),
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

    A release is a folder that never changes; its manifest has the hash of every file. If captions were rewritten to
    replace names, the release has the rewritten captions. The same state of a project always gives the same bytes. Only
    a release of the format tvr-ranking is also kept in the project. The other formats are for other programs.

    Example: reelrank export my-project release-1 --format tvr-ranking
    """
    from backend.campaign.release.export.freezing import export_release

    start = time.monotonic()
    options = ReleaseOptions(adjudicated, unfinished, with_published, with_model_grades)
    if format_ != "tvr-ranking":
        if with_model_grades:
            raise typer.BadParameter("is only for --format tvr-ranking", param_hint="--with-model-grades")
        if name is not None or notes:
            raise typer.BadParameter("are only for --format tvr-ranking", param_hint="--name, --notes")
        _export_form(folder, out, format_, options, threshold)
        return
    if threshold is not None:
        raise typer.BadParameter("is only for --format qvhighlights", param_hint="--threshold")
    with progress_bar() as progress:
        project = open_project(folder)
        report = export_release(
            project, OPERATOR, out, options, name=name, notes=notes, keep=keep, now=now(), progress=progress
        )
    where = f", kept in {report.kept}" if report.kept else ""
    more = [f"Release {report.name}{', which was made before' if report.again else ''}{where}."]
    choose = f"no licence is chosen. Choose one: reelrank releases terms {folder} --licence CC-BY-4.0"
    _say_release(report, options, start, more, *([] if report.licence else [choose]))


def _export_form(folder: Path, out: Path, form: str, options: ReleaseOptions, threshold: int | None) -> None:
    """Write a release in a format for other programs, and print what was written."""
    from backend.campaign.release.export.exporting import export_form

    start = time.monotonic()
    with progress_bar() as progress:
        project = open_project(folder)
        report = export_form(project, OPERATOR, out, form, options, threshold=threshold, progress=progress)
    more = []
    if report.windows is not None:
        more = [f"{report.windows:,} of the moments have relevance {report.threshold} or more, and become windows."]
    _say_release(report, options, start, more)


def _say_release(
    report: "ReleaseReport | FormReport", options: ReleaseOptions, start: float, more: list[str], *notes: str
) -> None:
    """Print what a release contains, the hash of its manifest, and the queries and pairs left out.

    `start` is when the export began, in seconds since 1970. `more` are lines to print before the hash, and `notes` are
    printed at the end.
    """
    selection = report.selection
    say(
        f"{report.place}: {selection.count(Split.VAL)} validation and {selection.count(Split.TEST)} test queries with "
        f"{counted(selection.moments, 'graded moment')}; {len(report.files)} files ({seconds(start)})."
    )
    for line in (*more, f"SHA-256 of its manifest: {report.sha256}"):
        say(line)
    _say_left_out(selection, unfinished=options.unfinished)
    say_each("Note: {}", notes)
    if report.simulated:
        say(f"Note: it has {counted(report.simulated, 'SIMULATED judgement')}, and is not ground truth.")


def _say_left_out(selection: ReleaseSelection, *, unfinished: bool) -> None:
    """Print which queries and pairs are left out, and which queries are included although pairs wait for grades."""
    if selection.unfinished:
        hint = "" if unfinished else ". --unfinished includes those with a settled pair"
        say(f"Note: left out {_queries(selection.unfinished)} with pairs that still wait for grades{hint}.")
    if selection.unfinished_within:
        say(f"Note: included {_queries(selection.unfinished_within)} with pairs that still wait for grades.")
    if selection.without_relevance:
        say(f"Note: left out {_queries(selection.without_relevance)} without a pair that has a relevance.")
    if selection.adjudicated_left_out:
        say(f"Note: left out {counted(selection.adjudicated_left_out, 'adjudicated pair')}.")


def _queries(queries: Sequence[QueryCounts]) -> str:
    """Return the number of queries with the ids of the first ones, as text."""
    first = first_of([query.query_id for query in queries], _SHOWN, ", ...")
    return f"{counted(len(queries), 'query', 'queries')} ({first})"


@add_command("pseudo-train")
def pseudo_train(
    folder: Dir,
    out: Annotated[Path, argument("OUT", "Folder for the files.")],
    top: Annotated[list[int], list_option("--top N,N", "Number of moments per training query.", int)] = _TOPS,
    jobs: EncodingJobs = None,
    cluster: Cluster = None,
) -> None:
    """Write pseudo training sets: the top moments of each query.

    A training query has no grades. In their place, its most similar moments are taken as relevant, weighted by
    similarity.

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
