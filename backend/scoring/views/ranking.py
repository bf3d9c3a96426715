"""Rank runs by one measure, and list all their means.

Reads and writes nothing. `Scoreboard.summary` and `add_statistics` make the summary.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from backend.core.messages import said, said_n
from backend.scoring.views.table import (
    PLAIN,
    Cell,
    Column,
    Mark,
    Row,
    Shown,
    Table,
    comparability_notes,
    eligible,
    keys_of,
    label,
    legend,
    marks,
    named_keys,
    p_value,
    upper_bounds,
)


def conventions(summary: Mapping[str, Any]) -> str:
    """Return the preset and the options that differ from it, such as `paper, missing=skip`."""
    return ", ".join([summary["preset"], *options(summary)])


def options(summary: Mapping[str, Any]) -> list[str]:
    """Return every option that differs from the preset, each as a text such as `missing=skip`."""
    return [f"{name}={option_text(value)}" for name, value in summary["options"].items()]


def sentence(summary: Mapping[str, Any]) -> str:
    """Return how an evaluation was made, to show beside its numbers: `preset paper; 500 queries, 12,987 moments`."""
    truth = summary["truth"]
    return said(
        "preset {preset}; {queries}, {moments}",
        preset=conventions(summary),
        queries=said_n("{n:,} query", "{n:,} queries", truth["queries"]),
        moments=said_n("{n:,} moment", "{n:,} moments", truth["moments"]),
    )


def option_text(value: object) -> str:
    """Return an option's value as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def ranking(summary: Mapping[str, Any], key: str | None = None, shown: Shown = PLAIN) -> Table:
    """Return a table of the runs sorted by their mean under one measure, with the statistics that the summary has.

    `key`, such as `ndcg@20,0.5`, is the measure; None takes the summary's main one (`focus`). Upper bounds come last
    and have no rank.
    """
    focus = summary["focus"] if key is None else key
    measure = named_keys(summary, [focus])[focus]
    runs = sorted(summary["runs"], key=lambda run: (run.get("upper_bound", False), -run["measures"].get(focus, -1.0)))
    best = max(run["measures"].get(focus, 0.0) for run in runs)
    columns = [
        Column("place", said("place")),
        Column("run", said("run"), number=False),
        Column("mean", said("mean {measure}", measure=focus), measure.help),
    ]
    if any(focus in run.get("intervals", {}) for run in runs):
        columns.append(Column("interval", said("95 % interval"), said("Percentile bootstrap over queries.")))
    compared = any(focus in run.get("comparison", {}) for run in runs)
    if compared:
        columns += [
            Column("difference", said("difference"), said("The run's mean minus the baseline's.")),
            Column("difference_interval", said("its 95 % interval"), said("Percentile bootstrap over queries.")),
            Column("p", "p", said("Sign-flip randomisation, not adjusted.")),
            Column("p_holm", "p (Holm)", said("Sign-flip randomisation, all comparisons.")),
            Column("p_t", "p (t)", said("Paired t-test, not adjusted.")),
            Column("wins", said("win / tie / loss"), said("Queries, against the baseline."), "queries"),
        ]
    columns.append(Column("missing", said("without predictions"), said("Queries that the run lacks."), "queries"))
    names = [column.name for column in columns]
    rows = []
    for place, run in enumerate(runs, start=1):
        cells = _ranking_cells(
            run, focus, place, best, summary.get("baseline"), partial(shown.number, measure=measure.measure)
        )
        rows.append(tuple(cells[name] for name in names))
    notes = (*upper_bounds(summary), *summary.get("statistics", {}).get("notes", ()))
    title = said("Mean {measure}, preset {preset}", measure=focus, preset=conventions(summary))
    return Table(title, tuple(columns), tuple(rows), notes)


def means(summary: Mapping[str, Any], shown: Shown = PLAIN) -> Table:
    """Return a table of all means: a row for each key such as `ndcg@20,0.5`, a column for each run.

    The second column is the key's title, such as `NDCG@20, IoU>=0.5`.
    """
    runs, among = summary["runs"], eligible(summary)
    head = (Column("measure", said("measure"), number=False), Column("title", said("stands for"), number=False))
    rows: list[Row] = []
    for key, entry in named_keys(summary).items():
        values = [run["measures"].get(key) for run in runs]
        cells = [
            Cell(value, shown.number(value, entry.measure), marks(run.get("comparison", {}).get(key), best=best))
            for run, value, best in zip(runs, values, _are_best(values, among), strict=True)
        ]
        rows.append((Cell(key, key), Cell(entry.title, entry.title), *cells))
    columns = (*head, *(Column(run["name"], label(run), run=True) for run in runs))
    notes = (*legend(summary), *comparability_notes(summary))
    title = said("Means of all measures, preset {preset}", preset=conventions(summary))
    return Table(title, columns, tuple(rows), notes)


def _are_best(values: Sequence[float | None], among: Sequence[bool]) -> list[bool]:
    """Return, for each value, whether it is the highest of those that `among` marks as competing."""
    best = max((value for value, fair in zip(values, among, strict=True) if fair and value is not None), default=None)
    return [fair and value is not None and value == best for value, fair in zip(values, among, strict=True)]


def narrow_means(summary: Mapping[str, Any], shown: Shown = PLAIN) -> Table:
    """Return the means as a table for a terminal or a text file: a row for each key such as `ndcg@20,0.5`.

    If there are more runs than keys, the rows are runs.
    """
    table = means(summary, shown).without("title")
    return table if len(keys_of(summary)) >= len(summary["runs"]) else table.turned("run")


def _between(low: str, high: str) -> str:
    return said("{low} to {high}", low=low, high=high)


def _ranking_cells(
    run: Mapping[str, Any], focus: str, place: int, best: float, baseline: str | None, number: Callable[..., str]
) -> dict[str, Cell]:
    mean, lacking = run["measures"].get(focus), len(run["missing"])
    interval = run.get("intervals", {}).get(focus)
    comparison = run.get("comparison", {}).get(focus)
    is_baseline, is_bound = run["name"] == baseline, run.get("upper_bound", False)
    run_marks = frozenset(mark for mark, holds in ((Mark.BASELINE, is_baseline), (Mark.UPPER_BOUND, is_bound)) if holds)
    cells = {
        "place": Cell(None, "-") if is_bound else Cell(place, str(place)),
        "run": Cell(run["name"], label(run), run_marks),
        "mean": Cell(mean, number(mean), share=(mean or 0.0) / best if best > 0 else 0.0),
        "interval": Cell(interval["low"], _between(number(interval["low"]), number(interval["high"])))
        if interval
        else Cell(None, "-"),
        "missing": Cell(lacking, str(lacking)),
    }
    if comparison is None:
        names = ("difference", "difference_interval", "p", "p_holm", "p_t")
        return (
            cells
            | dict.fromkeys(names, Cell(None, "-"))
            | {"wins": Cell(None, said("baseline") if is_baseline else "-")}
        )
    low, high = comparison["difference_low"], comparison["difference_high"]
    return cells | {
        "difference": Cell(comparison["difference"], number(comparison["difference"], sign="+")),
        "difference_interval": Cell(low, _between(number(low, sign="+"), number(high, sign="+"))),
        **{name: Cell(comparison[name], p_value(comparison[name])) for name in ("p", "p_holm", "p_t")},
        "wins": Cell(comparison["wins"], f"{comparison['wins']} / {comparison['ties']} / {comparison['losses']}"),
    }


def figures(summary: Mapping[str, Any]) -> Table:
    """Return a benchmark's figures: a row for each figure, a column for each run.

    The second column says how a figure is computed.
    """
    benchmark, runs = summary["benchmark"], summary["runs"]
    names = named_keys(summary, [figure["key"] for figure in benchmark["figures"] if figure["key"]])
    rows, fair = [], eligible(summary)
    for figure in benchmark["figures"]:
        values = [run["figures"][figure["name"]] for run in runs]
        cells = [
            Cell(value, printed(benchmark, value), marks(None, best=best))
            for value, best in zip(values, _are_best(values, fair), strict=True)
        ]
        title = ", ".join(
            part for part in (names[figure["key"]].title if figure["key"] else "", figure["about"]) if part
        )
        rows.append((Cell(figure["name"], figure["name"]), Cell(title, title), *cells))
    columns = (
        Column("figure", "figure", number=False),
        Column("title", "computed as", number=False),
        *(Column(run["name"], label(run), run=True) for run in runs),
    )
    unit = ", in percent" if benchmark["percent"] else ""
    notes = (f"Evaluator: {benchmark['evaluator']}.", *benchmark["notes"])
    return Table(f"{benchmark['title']}{unit}", columns, tuple(rows), notes)


def printed(benchmark: Mapping[str, Any], value: float | None) -> str:
    """Format a benchmark's figure as its own evaluator does, with as many digits, perhaps in percent; `-` for None."""
    if value is None:
        return "-"
    return f"{value * 100 if benchmark['percent'] else value:.{benchmark['digits']}f}"
