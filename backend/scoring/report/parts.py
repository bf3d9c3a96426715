"""Make the tables and charts of an evaluation report for its template.

Reads and writes nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np

from backend.core.messages import joined, said
from backend.core.text_files import csv_text
from backend.core.timespan import Floats
from backend.scoring.drawing import PALETTE, Specification, channel
from backend.scoring.fates import best_iou_of_queries
from backend.scoring.files.facts import Facts
from backend.scoring.scoreboard import Scoreboard, ScoredRun
from backend.scoring.views.curves import Order, Point, by_cutoff, leaders, orders, short_names
from backend.scoring.views.errors import examples, fates_of_grades, outcomes, percent
from backend.scoring.views.ranking import figures, means, ranking
from backend.scoring.views.table import named_keys, upper_bounds
from backend.scoring.views.table import number as score

_BINS = np.linspace(0.0, 1.0, 11)


def cutoff_chart(points: Sequence[Point], title: str) -> Specification:
    """Draw each run's mean against the cut-off, in one small chart for each threshold.

    Args:
        points: the means to draw, of no more runs than there are colours.
        title: the title of the vertical axis, such as `NDCG`.
    """
    names = short_names(list(dict.fromkeys(point.run for point in points)))
    shown = list(names.values())
    rows = [{"run": names[point.run], "k": point.k, "panel": point.panel, "value": point.value} for point in points]
    cutoffs = sorted({point.k for point in points})
    panel = {
        "width": 300,
        "height": 210,
        "encoding": {
            "x": channel("k:O", title="K (ranks that count)", sort=cutoffs, axis={"labelAngle": 0, "grid": False}),
            "y": channel("value:Q", title=f"mean {title}", axis={"format": ".2f", "tickCount": 5}),
            "color": _run_color(shown),
            # Use the scale and title of the colour, or there would be two legends.
            "shape": channel("run:N", sort=shown, scale={"domain": shown}, title=None),
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}},
        ],
    }
    column = channel("panel:N", title=None, header={"labelFontWeight": "bold"})
    return _chart(rows) | {"facet": {"column": column}, "spacing": 24, "spec": panel}


def order(orders: Sequence[Order]) -> Specification:
    """Draw the runs' means in one small chart for each measure.

    In every chart the runs stand from top to bottom in the order of the first measure.
    A diamond marks a run that the chart's measure ranks above one shown higher up.
    """
    names = short_names([step.run for step in orders[0].steps])
    panels = {entry.key: f"{entry.title}{_tau_text(entry) if n else ''}" for n, entry in enumerate(orders)}
    rows = [
        {
            "panel": panels[entry.key],
            "run": names[step.run],
            "place": step.place,
            "value": step.value,
            "ahead": step.ahead,
        }
        for entry in orders
        for step in entry.steps
    ]
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {
            "color": {"condition": {"test": "datum.ahead", "value": PALETTE[1]}, "value": PALETTE[0]},
            "shape": {"condition": {"test": "datum.ahead", "value": "diamond"}, "value": "circle"},
        },
    }
    panel = {
        "width": 190,
        "height": {"step": 20},
        "encoding": {
            "x": channel("value:Q", title=None, scale={"zero": False}, axis={"format": ".3~f", "tickCount": 4}),
            "y": channel("run:N", title=None, sort=list(names.values()), axis={"labelLimit": 240, "grid": False}),
        },
        "layer": [
            {
                "mark": {"type": "line", "color": "#888888", "strokeWidth": 1.5},
                "encoding": {"order": channel("place:Q")},
            },
            points,
        ],
    }
    header = {"labelExpr": "split(datum.label, ' · ')", "labelLimit": 240}
    return _chart(rows) | {
        "facet": channel("panel:N", title=None, sort=list(panels.values()), header=header),
        "columns": 3,
        "spacing": 16,
        "resolve": {"scale": {"x": "independent"}},
        "spec": panel,
    }


def _tau_text(entry: Order) -> str:
    return "" if entry.tau_b is None else f" · tau-b {entry.tau_b:.2f}"


def differences(values: Floats, title: str, colors: tuple[str, str] = (PALETTE[0], PALETTE[1])) -> Specification:
    """Draw the differences of two runs over all queries, sorted; above 0 the first run is better.

    Args:
        values: differences, shape (Q,), in any order.
        title: says what was subtracted from what.
        colors: the colours of the first run (above 0) and of the second (below 0).
    """
    falling = np.sort(values)[::-1].tolist()
    count = len(falling)
    # Draw areas rather than bars: thousands of bars would make a huge picture with the same outline.
    rows = [{"place": i, "up": max(value, 0.0), "down": min(value, 0.0)} for i, value in _thinned(falling)]
    x = channel(
        "place:Q",
        title=f"{count:,} queries, sorted",
        scale={"domain": [0, max(count - 1, 1)], "nice": False},
        axis={"grid": False, "format": ",d", "tickCount": 5},
    )
    axis = {"format": "+.1f", "tickCount": 5}
    up, down = channel("up:Q", title="difference", axis=axis), channel("down:Q", axis=axis)
    areas = [
        {"mark": {"type": "area", "color": color, "interpolate": "step"}, "encoding": {"x": x, "y": y}}
        for y, color in zip((up, down), colors, strict=True)
    ]
    zero = {
        "data": {"values": [{"y": 0}]},
        "mark": {"type": "rule", "color": "#888888"},
        "encoding": {"y": channel("y:Q")},
    }
    return _chart(rows) | {"title": title, "width": 620, "height": 210, "layer": [*areas, zero]}


def best_iou(best: Mapping[str, Floats], k: int) -> Specification:
    """Draw how high the best IoU of each query's first `k` predictions is: one small histogram for each run.

    `best` has these IoUs by run, one for each query.
    """
    names = short_names(list(best), 24)
    shown = {names[run]: values for run, values in best.items()}
    rows = []
    for run, values in shown.items():
        counts = np.histogram(values, _BINS)[0]
        for low, high, count in zip(_BINS[:-1], _BINS[1:], counts, strict=True):
            rows.append({"run": run, "low": round(low, 1), "high": round(high, 1), "queries": int(count)})
    axis = {"grid": False, "format": ".1f"}
    panel = {
        "width": 225,
        "height": 120,
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": channel("low:Q", bin="binned", title=f"best IoU of ranks 1-{k}", axis=axis),
            "x2": {"field": "high"},
            "y": channel("queries:Q", title="queries", axis={"tickCount": 4}),
            "color": _run_color(list(shown)) | {"legend": None},
        },
    }
    header = {"labelFontWeight": "bold", "labelLimit": 225}
    return _chart(rows) | {
        "facet": channel("run:N", title=None, sort=list(shown), header=header),
        "columns": 4,
        "spacing": 20,
        "spec": panel,
    }


def _chart(rows: Sequence[Mapping[str, Any]]) -> Specification:
    return {"background": "transparent", "data": {"values": rows}}


def _run_color(runs: Sequence[str]) -> Specification:
    return channel(
        "run:N",
        title=None,
        sort=runs,
        scale={"domain": runs, "range": PALETTE[: len(runs)]},
        legend={"orient": "top", "columns": 4, "labelLimit": 260},
    )


def _thinned(values: Sequence[float], most: int = 600) -> list[tuple[int, float]]:
    """Return at most `most` evenly spaced values with their indices. The first and the last value are among them."""
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
    return [(int(place), values[place]) for place in places]


_ABREAST = 10
"""Number of runs that fit side by side on an A4 sheet."""
_EACH = 5_000
"""Number of queries in the per-query table; a page with more is slow."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, its title, and a caption that says what it shows."""

    title: str
    caption: str
    chart: Specification


def leaderboard(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report's leaderboard: the runs sorted by the evaluation's main measure (`focus` in the summary).

    Returns:
        `table` has intervals and comparisons if the summary has them. `words` explains it, and `colors` has the colour
        of each run, row by row.
    """
    names = [run["name"] for run in summary["runs"]]
    colors = {name: PALETTE[n] if n < len(PALETTE) else "transparent" for n, name in enumerate(names)}
    table = ranking(summary).without("p")
    return {
        "words": "Select a column's name to sort by it. The shaded bars are relative to the highest mean.",
        "table": table,
        "colors": [colors[str(cell.value)] for cell in table.cells("run")],
    }


def measures(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of the runs' means. For a benchmark, they show the figures that its own evaluator prints.

    Returns:
        `bands` are the tables, each narrow enough for a sheet of paper, and `notes` the sentences below them.
    """
    table = figures(summary) if "benchmark" in summary else means(summary)
    return {"bands": table.bands(keep=2, most=_ABREAST), "notes": table.notes}


def errors(summary: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Return the report's error analysis: which relevant moments each run found or missed.

    Returns:
        `table` counts the moments by fate (how each was found or missed, such as `wrong time`). `by_relevance` has the
        same counts for each relevance. `words` explains `table`, and `fates` are its columns of counts. `percent` is a
        function that formats shares. `examples` is a table with moments of each kind of error.
    """
    table = outcomes(summary)
    return {
        "words": " ".join((table.title, *table.notes)),
        "table": table,
        "fates": table.columns[1:-1],
        "percent": percent,
        "by_relevance": fates_of_grades(summary),
        "examples": examples(summary, facts.texts),
    }


def per_query(board: Scoreboard, focus: str, facts: Facts) -> dict[str, Any]:
    """Return the values of the measure `focus` for every query: a table of the best runs, and a CSV file with all runs.

    Returns:
        `rows` are the table's rows, and `runs` its columns. `words` explains it, and `texts` says whether queries have
        a text. `file` and `csv` are the name and the URL-encoded content of the file to download.
    """
    queries, values = board.shared(focus)
    shown = sorted(board.falling(values)[:_ABREAST]) if len(queries) else []
    names = [run.label for run in board.runs]
    columns, lines = ["query", *names, "measure", "preset", "options"], []
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
        "runs": [names[place] for place in shown],
        "rows": rows,
        "file": "per-query.csv",
        "csv": quote(csv_text(columns, lines, for_people=True)),
    }


def board_pictures(board: Scoreboard, key: str | None = None) -> list[Picture]:
    """Return the charts of a scoreboard, with their captions, for the measure `key` such as `ndcg@20,0.5`.

    If `key` is None, the measure is the scoreboard's main one (`focus`).
    """
    focus, summary = key or board.focus, board.summary()
    return [picture for draw in PICTURES.values() if (picture := draw(board, summary, focus))]


def _shown_runs(board: Scoreboard, summary: Mapping[str, Any], focus: str) -> tuple[list[ScoredRun], str]:
    """Return the runs that a chart has colours for, and a sentence for its caption.

    The sentence says how many runs are shown. It is empty if all are.
    """
    names = {leader["name"] for leader in leaders(summary, focus)}
    runs = [run for run in board.runs if run.name in names]
    if len(runs) == len(board.runs):
        return runs, ""
    return runs, said(" The best {n} of {runs} runs are shown.", n=len(runs), runs=len(board.runs))


def _cutoffs(board: Scoreboard, summary: Mapping[str, Any], focus: str) -> Picture | None:
    return by_cutoff_picture(summary, focus, _shown_runs(board, summary, focus)[1])


def _order(_: Scoreboard, summary: Mapping[str, Any], focus: str) -> Picture | None:
    return order_picture(summary, focus)


def _two_best(board: Scoreboard, _: Mapping[str, Any], focus: str) -> Picture | None:
    queries, values = board.shared(focus)
    if sum(not run.upper_bound for run in board.runs) < 2 or not len(queries):
        return None
    best, other = board.falling(values)[:2]
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
    chart = differences(gap, f"{names[first]} − {names[second]}", colors)
    return Picture(said("The two best runs, query by query"), caption, chart)


def _closest(board: Scoreboard, summary: Mapping[str, Any], focus: str) -> Picture | None:
    runs, suffix = _shown_runs(board, summary, focus)
    k = max(board.settings.k)
    ious = {run.label: best_iou_of_queries(board.key, board.meeting(run)) for run in runs}
    near = joined(
        "; ",
        [
            said("{run}: {share:.0%} below .05", run=name, share=float((iou < 0.05).mean()))
            for name, iou in ious.items()
        ],
    )
    caption = said(
        "The best IoU of each query's first {k} predictions with a truth moment. {near}.{told}",
        k=k,
        near=near,
        told=suffix,
    )
    return Picture(said("How close the best prediction comes"), caption, best_iou(ious, k))


PICTURES: Mapping[str, Callable[[Scoreboard, Mapping[str, Any], str], Picture | None]] = {
    "by-k": _cutoffs,
    "order": _order,
    "queries": _two_best,
    "iou": _closest,
}
"""The functions that draw the charts of a scoreboard, from it, its summary and the measure shown.

They return None where there is nothing to show.
"""


def by_cutoff_picture(summary: Mapping[str, Any], key: str, suffix: str = "") -> Picture | None:
    """Return a chart of each run's mean by cut-off, or None if the measure has fewer than two cut-offs.

    `key` is a value of the measure, such as `ndcg@20,0.5`. The caption ends with `suffix`.
    """
    points = by_cutoff(summary, key)
    if not points:
        return None
    (entry,) = named_keys(summary, [key]).values()
    title = entry.measure.title(iou_compare=entry.iou_compare)
    caption = said("Mean {measure} of each run.{told}", measure=title, told=suffix)
    if points[0].panel:
        caption = said(
            "Mean {measure} of each run: one panel for each threshold, cut-offs from left to right.{told}",
            measure=title,
            told=suffix,
        )
    words = said("{measure} by cut-off", measure=entry.measure.short)
    return Picture(words, caption, cutoff_chart(points, entry.measure.short))


def order_picture(summary: Mapping[str, Any], key: str) -> Picture | None:
    """Return a chart of the runs' means under several measures, with the runs sorted by the measure `key`.

    Return None if there are fewer than two runs, or no other measure.
    """
    sorted_orders = orders(summary, key)
    if len(sorted_orders) < 2:
        return None
    caption = said(
        "Runs from top to bottom by falling {measure}, with their means under this and other "
        "measures. A diamond marks a run that a measure ranks above one shown higher up. Kendall's "
        "tau-b compares two orders: 1 is the same, -1 the reverse.{told}",
        measure=key,
        told=said(" Upper bounds are left out.") if upper_bounds(summary) else "",
    )
    return Picture(said("The same runs under other measures"), caption, order(sorted_orders))
