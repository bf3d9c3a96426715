"""Make the tables and charts of an evaluation report, as its template shows them.

Reads: nothing. Writes: nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from backend.core.messages import joined, said
from backend.core.text_files import csv_text
from backend.scoring.analysis.meeting import best_iou_of_queries
from backend.scoring.drawing import PALETTE, Specification
from backend.scoring.files.facts import Facts
from backend.scoring.report import charts
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.benchmark import figures
from backend.scoring.views.curves import by_cutoff, leaders, orders, short_names
from backend.scoring.views.errors import examples, fates_of_grades, outcomes, percent
from backend.scoring.views.naming import named
from backend.scoring.views.ranking import means, ranking
from backend.scoring.views.table import Mark
from backend.scoring.views.table import number as score

_ABREAST = 10
"""Runs that a sheet of A4 has room for beside one another."""
_EACH = 5_000
"""Queries in the per-query table; a page with more is slow."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, its title, and what it shows in words."""

    title: str
    caption: str
    chart: Specification


def leaderboard(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Runs by falling mean of the measure in focus; intervals and comparisons where the summary has them."""
    names = [run["name"] for run in summary["runs"]]
    colors = {name: PALETTE[n] if n < len(PALETTE) else "transparent" for n, name in enumerate(names)}
    table = ranking(summary).without("p")
    return {
        "words": "Click a column's name to sort by it. The shaded bars are relative to the best.",
        "table": table,
        "colors": [colors[cell.text] for cell in table.cells("run")],
        "baseline": Mark.BASELINE,
    }


def measures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """All means, of a benchmark its figures; many runs stand in several tables, because paper is no wider than this."""
    table = figures(summary) if "benchmark" in summary else means(summary)
    return {"bands": table.bands(keep=2, most=_ABREAST), "notes": table.notes}


def errors(summary: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """The error analysis of all runs."""
    found = outcomes(summary)
    return {
        "words": " ".join((found.title, *found.notes)),
        "table": found,
        "fates": found.columns[1:-1],
        "percent": percent,
        "by_relevance": fates_of_grades(summary),
        "examples": examples(summary, facts.texts),
    }


def per_query(board: Scoreboard, focus: str, facts: Facts) -> dict[str, Any]:
    """One measure of every query, of the best runs as rows and of all as a CSV to take along."""
    queries, values = board.shared(focus)
    shown = np.sort(np.argsort(-values.mean(axis=1), kind="stable")[:_ABREAST]).tolist() if len(queries) else []
    columns, lines = ["query", *(run.name for run in board.runs), "measure", "preset", "options"], []
    options = " ".join(f"{name}={value}" for name, value in board.options.items())
    rows: list[dict[str, Any]] = []
    for number, cells in zip(queries.tolist(), values.T.tolist(), strict=True):
        query = board.queries[number]
        lines.append([query, *cells, focus, board.settings.preset, options])
        if len(rows) < _EACH:
            rows.append(
                {
                    "query": query,
                    "text": facts.texts.get(str(query), ""),
                    "cells": [score(cells[place]) for place in shown],
                    "spread": f"{max(cells) - min(cells):.4f}",
                }
            )
    parts = [f"first {len(rows):,} of them"] if len(queries) > len(rows) else []
    parts += [f"best {len(shown)} of {len(board.runs)} runs"] if len(shown) < len(board.runs) and len(queries) else []
    whole = f" The {' and the '.join(parts)} are shown, the file has all." if parts else ""
    return {
        "words": f"{focus} of the {len(queries):,} queries that count for every run.{whole}",
        "texts": bool(facts.texts),
        "runs": [board.runs[place].name for place in shown],
        "rows": rows,
        "file": "per-query.csv",
        "csv": quote(csv_text(columns, lines, for_people=True)),
    }


def board_pictures(board: Scoreboard, key: str | None = None) -> list[Picture]:
    """Return the charts of a scoreboard by one measure (the one in focus, if None), with what they show in words."""
    focus, summary = key or board.focus, board.summary()
    runs = [run for run in board.runs if run.name in {one["name"] for one in leaders(summary, focus)}]
    told = ""
    if len(runs) < len(board.runs):
        told = said(" The best {n} of {runs} runs are shown.", n=len(runs), runs=len(board.runs))
    found = [picture for picture in (by_cutoff_picture(summary, focus, told), order_picture(summary, focus)) if picture]
    queries, values = board.shared(focus)
    if len(board.runs) > 1 and len(queries):
        best, other = np.argsort(-values.mean(axis=1), kind="stable")[:2].tolist()
        gap = values[best] - values[other]
        first, second = board.runs[best].name, board.runs[other].name
        caption = said(
            "{measure} of {first} minus that of {second}, for each query, sorted: the first is better in {better:,} "
            "queries, the second in {worse:,}, equal in {equal:,}.",
            measure=focus,
            first=first,
            second=second,
            better=int((gap > 0).sum()),
            worse=int((gap < 0).sum()),
            equal=int((gap == 0).sum()),
        )
        names = short_names([first, second])
        colors = (PALETTE[best % len(PALETTE)], PALETTE[other % len(PALETTE)])
        chart = charts.differences(gap, f"{names[first]} − {names[second]}", colors)
        found.append(Picture(said("The two best runs, query by query"), caption, chart))
    k = max(board.settings.k)
    ious = {run.name: best_iou_of_queries(board.key, board.meeting(run)) for run in runs}
    near = joined(
        "; ",
        [
            said("{run}: {share:.0%} below .05", run=name, share=float((iou < 0.05).mean()))
            for name, iou in ious.items()
        ],
    )
    caption = said(
        "The best IoU that any of a query's first {k} predictions has with a truth moment. {near}.{told}",
        k=k,
        near=near,
        told=told,
    )
    found.append(Picture(said("How near the best prediction comes"), caption, charts.best_iou(ious, k)))
    return found


def by_cutoff_picture(summary: Mapping[str, Any], key: str, told: str = "") -> Picture | None:
    """A measure by cut-off; None where there are not two cut-offs. `told` is added to the caption."""
    points = by_cutoff(summary, key)
    if not points:
        return None
    (one,) = named(summary, [key]).values()
    title = one.measure.title(iou_compare=one.iou_compare)
    caption = said("Mean {measure} of each run.{told}", measure=title, told=told)
    if points[0].panel:
        caption = said(
            "Mean {measure} of each run: one panel for each threshold, cut-offs from left to right.{told}",
            measure=title,
            told=told,
        )
    words = said("{measure} by cut-off", measure=one.measure.short)
    return Picture(words, caption, charts.by_cutoff(points, one.measure.short))


def order_picture(summary: Mapping[str, Any], key: str) -> Picture | None:
    """Runs sorted by one measure under the others; None where there are not two runs, or no other measure."""
    found = orders(summary, key)
    if len(found) < 2:
        return None
    caption = said(
        "Runs from top to bottom by falling {measure}, and their means under it and under other measures. A diamond is "
        "a run that a measure puts before one that stands above it. Kendall's tau-b says how alike two orders are: 1 "
        "is the same, -1 the reverse.",
        measure=key,
    )
    return Picture(said("The same runs under other measures"), caption, charts.order(found))
