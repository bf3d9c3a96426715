"""The tables and charts of an evaluation report, as what its template shows.

Reads: nothing. Writes: nothing.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import altair as alt
import numpy as np

from backend.scoring.analysis.fates import FATES, MEANINGS, NEVER_FOUND
from backend.scoring.analysis.meeting import best_iou_of_queries
from backend.scoring.drawing import PALETTE
from backend.scoring.files.facts import Facts
from backend.scoring.matching.columns import HIGHEST_RELEVANCE
from backend.scoring.report import charts
from backend.scoring.report.cases import times
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.tables import conventions, group_size, p_value

_EACH = 5_000
"""Queries in the per-query table; a page with more is slow."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart, its title, and what it shows in words."""

    title: str
    caption: str
    chart: alt.TopLevelMixin


def leaderboard(summary: Mapping[str, Any], focus: str) -> dict[str, Any]:
    """Runs by falling mean of one measure; intervals and comparisons where the summary has them."""
    runs = summary["runs"]
    ranked = sorted(runs, key=lambda run: -run["measures"].get(focus, -1.0))
    intervals = any("intervals" in run for run in runs)
    compared = any("comparison" in run for run in runs)
    columns = [("rank", True, ""), ("run", False, ""), (f"mean {focus}", True, "descending")]
    columns += [("95 % interval", True, "")] if intervals else []
    if compared:
        columns += [("difference to baseline", True, ""), ("p (Holm)", True, ""), ("p (t)", True, "")]
        columns += [("win / tie / loss", True, "")]
    columns.append(("queries missing", True, ""))
    colors = {run["name"]: PALETTE[n] if n < len(PALETTE) else "transparent" for n, run in enumerate(runs)}
    best = ranked[0]["measures"].get(focus, 0.0)
    rows = [_standing(run, focus, best, colors[run["name"]], summary.get("baseline")) for run in ranked]
    return {
        "words": "Click a column's name to sort by it. The shaded bars are relative to the best.",
        "caption": f"Mean {focus}, preset {conventions(summary)}",
        "columns": [{"name": name, "number": number, "sorted": sorted_} for name, number, sorted_ in columns],
        "intervals": intervals,
        "compared": compared,
        "rows": rows,
        "notes": summary.get("statistics", {}).get("notes", []),
    }


def measures(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All means, measures by runs."""
    keys = dict.fromkeys(key for run in summary["runs"] for key in run["measures"])
    rows = []
    for key in keys:
        values = [run["measures"].get(key) for run in summary["runs"]]
        best = max(value for value in values if value is not None)
        cells = [{"shown": _number(value), "best": value == best and len(values) > 1} for value in values]
        rows.append({"key": key, "cells": cells})
    return rows


def breakdowns(summary: Mapping[str, Any], focus: str) -> list[dict[str, Any]]:
    """Means of one measure by group, for each breakdown of the summary."""
    runs = summary["runs"]
    parts = []
    for by, first in runs[0].get("by", {}).items():
        rows = []
        means = [
            m for run in runs for g in run["by"][by]["groups"].values() if (m := g["measures"].get(focus)) is not None
        ]
        best = max(means, default=0.0)
        for name in first["groups"]:
            groups = [run["by"][by]["groups"][name] for run in runs]
            values = [group["measures"].get(focus) for group in groups]
            cells = [{"shown": _number(value), "share": _share(value, best)} for value in values]
            size = group_size([group["queries"] for group in groups])
            rows.append({"name": name, "size": size, "cells": cells})
        parts.append({"by": by, "note": f"{first['note'].capitalize()}.", "rows": rows})
    return parts


def errors(summary: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """The error analysis of all runs."""
    first = summary["runs"][0]["errors"]
    runs, by_relevance, examples = [], [], []
    for run in summary["runs"]:
        found = run["errors"]
        whole = found["moments"] or 1
        parts = [
            {"count": n, "shown": f"{n:,}", "percent": f"{n / whole:.1%}", "wide": n / whole > 0.07}
            for n in found["counts"].values()
        ]
        never = found["never_found"]
        runs.append(
            {"name": run["name"], "parts": parts, "never": f"{never:,}", "never_percent": f"{never / whole:.1%}"}
        )
        for grade in range(HIGHEST_RELEVANCE, 0, -1):
            counts = [found["by_relevance"][fate.value].get(str(grade)) for fate in FATES]
            if any(counts):
                by_relevance.append({"run": run["name"], "relevance": grade, "cells": [f"{n:,}" for n in counts]})
        for worst in found["examples"]:
            examples.append(
                {
                    "run": run["name"],
                    "fate": worst["class"],
                    "query": worst["query"],
                    "text": facts.texts.get(str(worst["query"]), ""),
                    "video": worst["video"],
                    "times": times(worst["start"], worst["end"]),
                    "relevance": worst["relevance"],
                    "rank": worst["rank"] or "-",
                    "iou": "-" if worst["iou"] is None else f"{worst['iou']:.2f}",
                }
            )
    words = (
        f"What became of the truth's {first['moments']:,} relevant moments within ranks 1-{first['k']} at IoU "
        f"threshold {first['mu']:g}. Each is counted once, under the first of these that holds; a query with "
        f"more relevant moments than ranks must leave some unfound. Never found: {', '.join(NEVER_FOUND)}."
    )
    fates = [{"name": fate.value, "meaning": MEANINGS[fate]} for fate in FATES]
    return {"words": words, "fates": fates, "runs": runs, "by_relevance": by_relevance, "examples": examples}


def per_query(board: Scoreboard, focus: str, facts: Facts) -> dict[str, Any]:
    """One measure of every query and run, as rows and as a CSV to take along."""
    queries, values = board.shared(focus)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["query", *(run.name for run in board.runs), "measure", "preset", "options"])
    options = " ".join(f"{name}={value}" for name, value in board.settings.changed.items())
    rows: list[dict[str, Any]] = []
    for number, cells in zip(queries.tolist(), values.T.tolist(), strict=True):
        query = board.queries[number]
        lines.writerow([query, *cells, focus, board.settings.preset, options])
        if len(rows) < _EACH:
            rows.append(
                {
                    "query": query,
                    "text": facts.texts.get(str(query), ""),
                    "cells": [f"{value:.4f}" for value in cells],
                    "spread": f"{max(cells) - min(cells):.4f}",
                }
            )
    more = len(queries) - len(rows)
    whole = f" The first {len(rows):,} are shown, the file has all." if more else ""
    return {
        "words": f"{focus} of the {len(queries):,} queries that count for every run.{whole}",
        "texts": bool(facts.texts),
        "rows": rows,
        "file": "per-query.csv",
        "csv": quote(text.getvalue()),
    }


def pictures(board: Scoreboard, focus: str) -> list[Picture]:
    """The charts with what they show in words."""
    settings, runs = board.settings, board.runs
    found: list[Picture] = []
    cells = {
        run.name: {
            (k, mu): run.means[key]
            for k in settings.k
            for mu in settings.mu
            if (key := f"ndcg@{k},{mu!r}") in run.means
        }
        for run in runs
    }
    if all(cells.values()):
        caption = "Mean NDCG of each run: one panel for each IoU threshold, cut-offs from left to right."
        chart = charts.by_cutoff_and_threshold(cells, "NDCG")
        found.append(Picture("NDCG by cut-off and threshold", caption, chart))
    queries, values = board.shared(focus)
    if len(runs) > 1 and len(queries):
        best, other = np.argsort(-values.mean(axis=1), kind="stable")[:2].tolist()
        gap = values[best] - values[other]
        caption = (
            f"{focus} of {runs[best].name} minus that of {runs[other].name}, for each query, sorted: the first is "
            f"better in {int((gap > 0).sum()):,} queries, the second in {int((gap < 0).sum()):,}, equal in "
            f"{int((gap == 0).sum()):,}."
        )
        names = f"{_short(runs[best].name)} − {_short(runs[other].name)}"
        chart = charts.differences(gap, names, (PALETTE[best % len(PALETTE)], PALETTE[other % len(PALETTE)]))
        found.append(Picture("The two best runs, query by query", caption, chart))
    k = max(settings.k)
    meetings = {run.name: board.meeting(run) for run in runs}
    ious = {run.name: best_iou_of_queries(board.key, meetings[run.name]) for run in runs}
    near = "; ".join(f"{name}: {float((iou < 0.05).mean()):.0%} below .05" for name, iou in ious.items())
    caption = f"The best IoU that any of a query's first {k} predictions has with a truth moment. {near}."
    found.append(Picture("How near the best prediction comes", caption, charts.best_iou(ious, k)))
    return found


def _standing(run: Mapping[str, Any], focus: str, best: float, color: str, baseline: str | None) -> dict[str, Any]:
    mean = run["measures"].get(focus)
    interval = run.get("intervals", {}).get(focus)
    other = run.get("comparison", {}).get(focus)
    row: dict[str, Any] = {
        "name": run["name"],
        "color": color,
        "baseline": run["name"] == baseline,
        "mean": "" if mean is None else mean,
        "shown": _number(mean),
        "share": _share(mean, best),
        "missing": len(run["missing"]),
        "low": interval["low"] if interval else "",
        "interval": f"{interval['low']:.4f} to {interval['high']:.4f}" if interval else "-",
    }
    if other is None:
        blank = ("difference", "difference_shown", "p_holm", "p_shown", "p_t", "p_t_shown", "wins", "wins_shown")
        return row | {name: "-" if name.endswith("shown") else "" for name in blank}
    return row | {
        "difference": other["difference"],
        "difference_shown": f"{other['difference']:+.4f} ({_span(other['difference_low'], other['difference_high'])})",
        "p_holm": "" if other["p_holm"] is None else other["p_holm"],
        "p_shown": p_value(other["p_holm"]),
        "p_t": "" if other["p_t"] is None else other["p_t"],
        "p_t_shown": p_value(other["p_t"]),
        "wins": other["wins"],
        "wins_shown": f"{other['wins']} / {other['ties']} / {other['losses']}",
    }


def _share(value: float | None, best: float) -> float:
    """Length of a bar in percent of the best."""
    return round(100 * (value or 0.0) / best, 1) if best > 0 else 0.0


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _span(low: float, high: float) -> str:
    return f"{low:+.4f} to {high:+.4f}"


def _short(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
