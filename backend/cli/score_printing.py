"""Scores of an evaluation on the screen."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from backend.cli.output import paragraph, say, table

if TYPE_CHECKING:
    from backend.scoring.scoreboard import Scoreboard
    from backend.scoring.views.table import Shown
    from backend.scoring.views.table import Table as ScoreTable


_COMPARED = ("run", "difference", "difference_interval", "p", "p_holm", "p_t", "wins")
"""Columns of a ranking against the baseline."""


def print_scores(
    summary: dict[str, Any],
    shown: "Shown",
    boards: Mapping[str, "Scoreboard"],
    *,
    everything: bool,
    asked: bool,
) -> None:
    """Print what a reader has to know first, then the scores in brief, or everything.

    Runs stand side by side; of several splits, or of models and their variants, the tables are those of papers.

    Args:
        summary: of the scores.
        shown: how numbers are written.
        boards: the scoreboard of each split.
        everything: whether all measures are printed, and what their keys stand for.
        asked: whether measures were asked for by name: then none is left out.
    """
    from backend.scoring.views.brief import doubts as score_doubts
    from backend.scoring.views.brief import in_brief as scores_in_brief
    from backend.scoring.views.brief import left_out as scores_left_out
    from backend.scoring.views.splits import is_grouped as scores_are_grouped
    from backend.scoring.views.splits import parts_of as score_parts

    parts = score_parts(summary)
    told = []
    for (split, part), board in zip(parts, boards.values(), strict=True):
        notes = [f"Note: {note}" for note in part.get("notes", ())]
        told += [f"{split}: {line}" if len(parts) > 1 else line for line in (*score_doubts(part, board), *notes)]
    _print_lines(dict.fromkeys(told))
    if told:
        say("")
    brief = summary if everything or asked else scores_in_brief(summary)
    (_print_paper if scores_are_grouped(summary) else _print_runs)(brief, shown, brief=not everything)
    if more := scores_left_out(summary, brief):
        say("")
        paragraph(f"--all prints the other measures too: {', '.join(more)}.")


def _print_paper(summary: dict[str, Any], shown: "Shown", *, brief: bool) -> None:
    """Models and their variants, split beside split."""
    from backend.scoring.views.paper import paper as score_paper
    from backend.scoring.views.ranking import figures as score_figures
    from backend.scoring.views.splits import parts_of as score_parts
    from backend.scoring.views.table import legend as score_legend

    tables = score_paper(summary, shown)
    _print_lines(tables[0].notes)
    for block in tables:
        say(f"\n{block.title}")
        _print(block)
    first = score_parts(summary)[0][1]
    _print_lines(score_figures(first).notes if "benchmark" in first else [] if brief else score_legend(first))


def _print_runs(summary: dict[str, Any], shown: "Shown", *, brief: bool) -> None:
    """The preset and every non-default option stand beside the numbers, always."""
    from backend.scoring.views.brief import grid as score_grid
    from backend.scoring.views.errors import own_and_pool as score_own_and_pool
    from backend.scoring.views.errors import told as score_pools_told
    from backend.scoring.views.ranking import figures as score_figures
    from backend.scoring.views.ranking import narrow_means as score_means
    from backend.scoring.views.ranking import ranking as score_ranking
    from backend.scoring.views.ranking import sentence as score_sentence
    from backend.scoring.views.splits import groups as score_groups
    from backend.scoring.views.table import legend as score_legend

    say(score_sentence(summary))
    if "pool" in summary:
        say(score_pools_told(summary))
    if "benchmark" in summary:
        figures = score_figures(summary)
        say(figures.title)
        _print(figures)
        _print_lines(figures.notes)
    elif brief and (grid := score_grid(summary, shown)):
        paragraph(grid.title)
        _print(grid)
    else:
        _print(score_means(summary, shown))
        _print_lines(score_legend(summary))
    runs = summary["runs"]
    if any("intervals" in run for run in runs):
        ranking = score_ranking(summary, shown=shown)
        # In two, so that a narrow terminal has room for each.
        for part in (("place", "run", "mean", "interval", "missing"), _COMPARED):
            if part is not _COMPARED or ranking.has("difference"):
                say("")
                _print(ranking.only(part))
        _print_lines(ranking.notes)
    for by in runs[0].get("by", ()):
        groups = score_groups(summary, by, shown=shown)
        say(f"\n{groups.title}: {' '.join(groups.notes)}")
        _print(groups)
    if "own_video" in runs[0]:
        beside = score_own_and_pool(summary)
        say(f"\n{beside.title}. {' '.join(beside.notes)}")
        _print(beside)
    if "errors" in runs[0]:
        _print_errors(summary)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        paragraph(line)


def _print(scores: "ScoreTable") -> None:
    head, *rows = scores.texts()
    table(head, rows, [not column.number for column in scores.columns])


def _print_errors(summary: dict[str, Any]) -> None:
    from backend.scoring.views.errors import examples as score_examples
    from backend.scoring.views.errors import outcomes as score_outcomes
    from backend.scoring.views.errors import percent as score_percent

    outcomes = score_outcomes(summary)
    say(f"\n{outcomes.title}")
    rows = [
        [column.title, *(f"{cell.text} {score_percent(cell)}" for cell in outcomes.cells(column.name))]
        for column in outcomes.columns[1:]
    ]
    table(["moments", *(row[0].text for row in outcomes.rows)], rows)
    # One of each kind; the JSON and the report have more.
    examples = score_examples(summary)
    worst = {(row[0].text, row[1].text): row for row in reversed(examples.rows)}
    for row in reversed(worst.values()):
        run, error, query, _, video, moment, relevance, rank, iou = (cell.text for cell in row)
        place = "" if rank == "-" else f" at rank {rank}"
        near = "" if iou == "-" else f", best IoU {iou}"
        say(f"{run}, {error}: query {query}, {video} {moment}, relevance {relevance}{place}{near}")
