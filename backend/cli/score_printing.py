"""Scores of an evaluation on the screen."""

from collections.abc import Mapping
from typing import Any

from backend import api
from backend.cli.output import say, table

_COMPARED = ("run", "difference", "difference_interval", "p", "p_holm", "p_t", "wins")
"""Columns of a ranking against the baseline."""


def print_scores(summary: dict[str, Any], shown: "api.Shown") -> None:
    """Runs side by side; of several splits, or of models and their variants, the tables that papers print."""
    (_print_paper if api.scores_are_grouped(summary) else _print_runs)(summary, shown)


def _print_paper(summary: dict[str, Any], shown: "api.Shown") -> None:
    """Models and their variants, split beside split."""
    tables = api.score_paper(summary, shown)
    for note in tables[0].notes:
        say(note)
    for block in tables:
        say(f"\n{block.title}")
        _print(block)
    parts = api.score_parts(summary)
    first = parts[0][1]
    for line in (api.score_figures(first) if "benchmark" in first else api.score_means(first)).notes:
        say(line)
    for split, part in parts:
        _print_tail(part, f"{split}, " if len(parts) > 1 else "")


def _print_runs(summary: dict[str, Any], shown: "api.Shown") -> None:
    """The preset and every non-default option stand beside the numbers, always."""
    say(api.score_sentence(summary))
    if "pool" in summary:
        say(api.score_pools_told(summary))
    means = api.score_figures(summary) if "benchmark" in summary else api.score_means(summary, shown)
    if "benchmark" in summary:
        say(means.title)
    _print(means)
    for line in means.notes:
        say(line)
    runs = summary["runs"]
    if any("intervals" in run for run in runs):
        ranking = api.score_ranking(summary, shown=shown)
        # In two, so that a narrow terminal has room for each.
        for part in (("place", "run", "mean", "interval", "missing"), _COMPARED):
            if part is not _COMPARED or ranking.has("difference"):
                say("")
                _print(ranking.only(part))
        for note in ranking.notes:
            say(note)
    for by in runs[0].get("by", ()):
        groups = api.score_groups(summary, by, shown=shown)
        say(f"\n{groups.title}: {' '.join(groups.notes)}")
        _print(groups)
    if "own_video" in runs[0]:
        beside = api.score_own_and_pool(summary)
        say(f"\n{beside.title}. {' '.join(beside.notes)}")
        _print(beside)
    if "errors" in runs[0]:
        _print_errors(summary)
    _print_tail(summary)


def _print_tail(summary: Mapping[str, Any], before: str = "") -> None:
    """What the numbers leave out, and what is to be said of them."""
    for run in summary["runs"]:
        if run["missing"]:
            named = ", ".join(str(query) for query in run["missing"][:10])
            more = " ..." if len(run["missing"]) > 10 else ""
            say(f"{before}{run['name']}: {len(run['missing'])} queries without predictions: {named}{more}")
    for note in summary.get("notes", ()):
        say(f"Note: {note}")
    for warning in summary["warnings"]:
        say(f"Warning: {warning}")


def _print(scores: "api.ScoreTable") -> None:
    head, *rows = scores.texts()
    table(head, rows, [not column.number for column in scores.columns])


def _print_errors(summary: dict[str, Any]) -> None:
    outcomes = api.score_outcomes(summary)
    say(f"\n{outcomes.title}")
    rows = [
        [column.title, *(f"{cell.text} {api.score_percent(cell)}" for cell in outcomes.cells(column.name))]
        for column in outcomes.columns[1:]
    ]
    table(["moments", *(row[0].text for row in outcomes.rows)], rows)
    # One of each kind; the JSON and the report have more.
    examples = api.score_examples(summary)
    worst = {(row[0].text, row[1].text): row for row in reversed(examples.rows)}
    for row in reversed(worst.values()):
        run, error, query, _, video, moment, relevance, rank, iou = (cell.text for cell in row)
        place = "" if rank == "-" else f" at rank {rank}"
        near = "" if iou == "-" else f", best IoU {iou}"
        say(f"{run}, {error}: query {query}, {video} {moment}, relevance {relevance}{place}{near}")
