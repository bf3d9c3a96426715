"""The command that scores runs and explains the scores."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR
from backend.cli.commands import add_command
from backend.cli.conventions import Charts, PoolChoices, RunChoices, ScoringOptions, Writing, read_charts
from backend.cli.options import Cluster, ScoringJobs, option, where, whole
from backend.cli.output import (
    fail,
    machine_output,
    now,
    paragraph,
    printed_to,
    progress_bar,
    save,
    say,
    table,
    tell_written,
)
from backend.core.messages import as_text
from backend.core.typed_text import nfc

if TYPE_CHECKING:
    from backend.scoring.scoreboard import Scoreboard
    from backend.scoring.views.table import Shown
    from backend.scoring.views.table import Table as ScoreTable


class By(StrEnum):
    """A property by which to group queries; the mean scores of each group are printed."""

    DURATION = "duration"
    SHOW = "show"
    VIDEO = "video"
    RELEVANCE = "relevance"
    TYPE = "type"


@add_command("evaluate")
def evaluate(
    *,
    run_choices: RunChoices,
    scoring: ScoringOptions,
    in_pools: PoolChoices,
    chart: Charts = None,
    intervals: Annotated[bool, option("--intervals", "Add 95 % intervals of the means.")] = False,
    baseline: Annotated[str | None, option("--baseline RUN", "Compare the other runs with this one.")] = None,
    resamples: Annotated[int, option("--resamples N", "Number of bootstrap and sign-flip samples.")] = 10_000,
    seed: Annotated[int, option("--seed S", "Seed of bootstrap and sign-flip samples.")] = 0,
    by: Annotated[list[By] | None, option("--by", "Add the means of groups of queries; may be repeated.")] = None,
    errors: Annotated[bool, option("--errors", "Add an error analysis: what became of each relevant moment.")] = False,
    writing: Writing,
    everything: Annotated[bool, option("--all", "Print all measures, and their meaning.")] = False,
    format_: Annotated[
        Literal["table", "json", "csv", "markdown", "latex"], option("--format", "Format of the scores.")
    ] = "table",
    out: Annotated[Path | None, option("--out FILE|-", "Write the scores to a file; - prints them.")] = None,
    json: Annotated[
        Path | None, option("--json FILE|-", "Also write JSON to a file; - prints JSON and nothing else.")
    ] = None,
    per_query: Annotated[
        Path | None, option("--per-query FILE.csv", "Write the values of every query and run as CSV.")
    ] = None,
    report: Annotated[
        Path | None, option("--report FILE.html", "Write an HTML report: one page with the table, charts and cases.")
    ] = None,
    project: Annotated[
        Path | None, option("--project DIR", "With --report: a project with the videos, to show frames.")
    ] = None,
    jobs: ScoringJobs = None,
    cluster: Cluster = None,
) -> None:
    """Score runs against a ground truth, and compare them.

    Example: reelrank evaluate --truth val.json --run mine.json --videos video_corpus.json --report scores.html
    """
    from backend.scoring.scored_files import file_inputs, score_splits
    from backend.scoring.statistics.sureness import Sureness, add_statistics
    from backend.scoring.tables import SCORE_FORMATS, per_query_csv
    from backend.scoring.views.brief import in_brief
    from backend.scoring.views.splits import joined as joined_scores

    inputs = run_choices.read()
    inputs = replace(inputs, runs=tuple(replace(run, path=whole(run.path, cluster)) for run in inputs.runs))
    at, videos = where(jobs, cluster, usual=1), scoring.videos or inputs.videos
    if not inputs.truths and scoring.pool is None:
        raise typer.BadParameter("give --truth FILE, or --pool FILE", param_hint="--truth")
    charts = read_charts(chart or [], in_pools=scoring.pool is not None)
    if any(name == "own-video" for name, _ in charts):
        in_pools = replace(in_pools, own_video=True)
    pools = in_pools.of_file(scoring.pool)
    if project is not None and report is None:
        raise typer.BadParameter("needs a report: add --report FILE.html", param_hint="--project")
    json_alone, to_file = json is not None and str(json) == "-", out is not None and str(out) != "-"
    form = "json" if json_alone and not to_file else format_
    style = writing.shown(form, variant=inputs.variant_title, intervals=intervals, benchmark=scoring.benchmark)
    of_one_split = {"--report": report, "--per-query": per_query, "--chart": charts[0][1] if charts else None}
    for name, value in of_one_split.items():
        if value is not None and len(inputs.splits) > 1:
            parts = ", ".join(inputs.splits)
            raise typer.BadParameter(f"works on one split: add --split with one of {parts}", param_hint=name)
    for place in (report, per_query, json, out, *(file for _, file in charts)):
        _require_place(place)
    film = None
    if project is not None:
        from backend.campaign.release.board.leaderboard import report_frames

        film = report_frames(open_project(project), OPERATOR)
    with progress_bar() as progress:
        boards = score_splits(inputs, videos=videos, pool=pools, where=at, progress=progress, **scoring.conventions())
        sureness = Sureness(baseline and nfc(baseline), resamples, seed)
        summaries = {}
        for name, board in boards.items():
            summaries[name] = board.summary([part.value for part in by or ()], errors=errors)
            if intervals or baseline is not None:
                add_statistics(summaries[name], board, sureness, progress=progress)
        summary, board = joined_scores(summaries), boards[inputs.splits[0]]
        # Before the report, which takes longer: a chart of nothing is refused.
        for chart_name, file in charts:
            from backend.scoring.report.figures import write_figure

            write_figure(chart_name, summary, file)
        if report is not None:
            from backend.scoring.report.page import report_page

            made = datetime.fromtimestamp(now(), UTC)
            page = report_page(
                board,
                file_inputs(inputs.truths.get(inputs.splits[0]), [run.path for run in inputs.runs], videos, pools),
                made=made,
                asked=sureness if baseline else None,
                film=film,
                progress=progress,
            )
            save(report, page)
    if per_query is not None:
        save(per_query, per_query_csv(summary, list(board.per_query())))
    encoded = msgspec.json.format(msgspec.json.encode(summary, enc_hook=as_text), indent=2).decode() + "\n"
    if json_alone:
        machine_output().write(encoded)
    elif json is not None:
        save(json, encoded)
    if form == "table":
        with printed_to(out if to_file else None):
            print_scores(summary, style, boards, everything=everything, chosen=scoring.measure is not None)
    elif to_file or not json_alone:
        chosen = everything or scoring.measure is not None or form != "latex"
        text = encoded if form == "json" else SCORE_FORMATS[form](summary if chosen else in_brief(summary), style)
        with printed_to(out if to_file else None, as_it_is=True):
            machine_output().write(text.removesuffix("\n") + "\n")
    written = [*(file for _, file in charts), report, per_query, json, out]
    tell_written(written, data=json_alone or not (to_file or form == "table"))


def _require_place(path: Path | None) -> None:
    """Refuse, before scoring, a path at which no file can be written; scoring may take minutes.

    None and `-` (standard output) are accepted.
    """
    if path is None or str(path) == "-":
        return
    if path.is_dir():
        fail(f"{path} cannot be written because it is a folder: name a file")
    if not path.parent.is_dir():
        fail(f"{path} cannot be written: the folder {path.parent} does not exist. Create it first.")


_COMPARED = ("run", "difference", "difference_interval", "p", "p_holm", "p_t", "wins")
"""Columns of a ranking against the baseline."""


def print_scores(
    summary: dict[str, Any], style: "Shown", boards: Mapping[str, "Scoreboard"], *, everything: bool, chosen: bool
) -> None:
    """Print warnings and notes, then the scores: the main measure only, or all measures.

    If there are several splits, or models with variants, models and variants are the rows of a table as in papers, and
    splits are columns. Otherwise runs are listed in one table.

    Args:
        summary: the scores.
        style: the format of numbers.
        boards: the scores of every query, for the warnings, by split.
        everything: whether to print all measures with the meaning of their keys.
        chosen: whether the user chose measures by an option; then all of these are printed.
    """
    from backend.scoring.views import brief, splits
    from backend.scoring.views.table import unparsed

    parts = splits.parts_of(summary)
    notices = []
    for (split, part), board in zip(parts, boards.values(), strict=True):
        notes = [f"Note: {note}" for note in part.get("notes", ())]
        notices += [f"{split}: {line}" if len(parts) > 1 else line for line in (*brief.doubts(part, board), *notes)]
    _print_lines(dict.fromkeys(notices))
    if notices:
        say("")
    printed = summary if everything or chosen else brief.in_brief(summary)
    (_print_paper if splits.is_grouped(summary) else _print_runs)(printed, style, in_brief=not everything)
    for split, part in parts:
        _print_lines(f"{split}: {line}" if len(parts) > 1 else line for line in unparsed(part))
    if more := brief.left_out(summary, printed):
        say("")
        paragraph(f"--all also prints the other measures: {', '.join(more)}.")


def _print_paper(summary: dict[str, Any], style: "Shown", *, in_brief: bool) -> None:
    """Print a table as in papers: a row for each model and variant, and columns for each split.

    With `in_brief`, the meaning of the measures is not printed below the table.
    """
    from backend.scoring.views import paper, ranking, splits
    from backend.scoring.views.table import legend as score_legend

    tables = paper.paper(summary, style)
    _print_lines(tables[0].notes)
    for block in tables:
        say(f"\n{block.title}")
        _print(block)
    first = splits.parts_of(summary)[0][1]
    _print_lines(ranking.figures(first).notes if "benchmark" in first else [] if in_brief else score_legend(first))


def _print_runs(summary: dict[str, Any], style: "Shown", *, in_brief: bool) -> None:
    """Print the preset and every option that is not its default, then a table with all runs.

    With `in_brief`, scores of a single measure are printed as a small table.
    """
    from backend.scoring.views import brief, errors, ranking, splits
    from backend.scoring.views.table import legend as score_legend

    say(ranking.sentence(summary))
    if "pool" in summary:
        say(errors.pool_sentence(summary))
    if "benchmark" in summary:
        figures = ranking.figures(summary)
        say(figures.title)
        _print(figures)
        _print_lines(figures.notes)
    elif in_brief and (grid := brief.grid(summary, style)):
        paragraph(grid.title)
        _print(grid)
    else:
        _print(ranking.narrow_means(summary, style))
        _print_lines(score_legend(summary))
    runs = summary["runs"]
    if any("intervals" in run for run in runs):
        placed = ranking.ranking(summary, shown=style)
        # In two, so that a narrow terminal has room for each.
        for part in (("place", "run", "mean", "interval", "missing"), _COMPARED):
            if part is not _COMPARED or placed.has("difference"):
                say("")
                _print(placed.only(part))
        _print_lines(placed.notes)
    for by in runs[0].get("by", ()):
        groups = splits.groups(summary, by, shown=style)
        say(f"\n{groups.title}: {' '.join(groups.notes)}")
        _print(groups)
    if "own_video" in runs[0]:
        comparison = errors.own_and_pool(summary)
        say(f"\n{comparison.title}. {' '.join(comparison.notes)}")
        _print(comparison)
    if "errors" in runs[0]:
        _print_errors(summary)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        paragraph(line)


def _print(scores: "ScoreTable") -> None:
    head, *rows = scores.texts()
    table(head, rows, [not column.number for column in scores.columns])


def _print_errors(summary: dict[str, Any]) -> None:
    from backend.scoring.views import errors

    outcomes = errors.outcomes(summary)
    say(f"\n{outcomes.title}")
    rows = [
        [column.title, *(f"{cell.text} {errors.percent(cell)}" for cell in outcomes.cells(column.name))]
        for column in outcomes.columns[1:]
    ]
    table(["moments", *(row[0].text for row in outcomes.rows)], rows)
    # One of each kind; the JSON and the report have more.
    examples = errors.examples(summary)
    worst = {(row[0].text, row[1].text): row for row in reversed(examples.rows)}
    for row in reversed(worst.values()):
        run, error, query, _, video, moment, relevance, rank, iou = (cell.text for cell in row)
        place = "" if rank == "-" else f" at rank {rank}"
        near = "" if iou == "-" else f", best IoU {iou}"
        say(f"{run}, {error}: query {query}, {video} {moment}, relevance {relevance}{place}{near}")
