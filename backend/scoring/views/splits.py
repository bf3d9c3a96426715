"""Combine evaluations: those of several splits of a truth, and those of runs that differ only in their seed.

Reads and writes nothing. `Scoreboard.summary` and `add_statistics` make the summaries.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.core.messages import said
from backend.scoring.views.ranking import conventions
from backend.scoring.views.table import PLAIN, Cell, Column, Shown, Table, label, named_keys

Summary = Mapping[str, Any]


@dataclass(slots=True)
class Row:
    """One row of a table: the runs of a model and variant in each split, one for each seed."""

    model: str
    variant: str
    runs: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model and its variant."""
        return f"{self.model} {self.variant}".strip()

    @property
    def upper_bound(self) -> bool:
        """Whether its runs are upper bounds, which are not compared with other rows."""
        return all(run.get("upper_bound", False) for runs in self.runs.values() for run in runs)


def joined(summaries: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """Join the summaries of several splits as `{"splits": {split: summary}}`; a single summary is returned as it is.

    If runs have seeds, `over_seeds` gives the mean and sample standard deviation of every measure for each model,
    variant and split. The deviation of a single run is None.
    """
    result: dict[str, Any] = {"splits": dict(summaries)} if len(summaries) > 1 else dict(*summaries.values())
    parts = parts_of(result)
    if any("seed" in run for _, part in parts for run in part["runs"]):
        result["over_seeds"] = [
            {"model": row.model, "variant": row.variant, "split": split, **_over(runs)}
            for row in rows_of(parts)
            for split, runs in row.runs.items()
        ]
    return result


def parts_of(summary: Summary) -> list[tuple[str, Summary]]:
    """Return the summary of each split with its name.

    A summary without splits is one part. Its name is the split that its runs name, or empty if they name none.
    """
    if "splits" in summary:
        return list(summary["splits"].items())
    return [(next((run["split"] for run in summary["runs"] if "split" in run), ""), summary)]


def is_grouped(summary: Summary) -> bool:
    """Return whether the summary has several splits or runs that name a model."""
    parts = parts_of(summary)
    return len(parts) > 1 or any("model" in run for _, part in parts for run in part["runs"])


def rows_of(parts: Iterable[tuple[str, Summary]]) -> list[Row]:
    """Return the rows of a table: models and variants in order of appearance. A run without a model has its own row.

    >>> of = {"name": "", "model": "X"}
    >>> runs = [of | {"variant": "1"}, {"name": "y"}, of | {"variant": "2"}]
    >>> [row.name for row in rows_of([("val", {"runs": runs})])]
    ['X 1', 'X 2', 'y']
    """
    rows: dict[tuple[str, str], Row] = {}
    for split, part in parts:
        for run in part["runs"]:
            row = Row(run.get("model", run["name"]), run.get("variant", ""))
            row = rows.setdefault((row.model, row.variant), row)
            row.runs.setdefault(split, []).append(run)
    models = list(dict.fromkeys(model for model, _ in rows))
    return sorted(rows.values(), key=lambda row: models.index(row.model))


def spread(values: list[float]) -> tuple[float, float | None]:
    """Return the mean and the sample standard deviation, which is None for a single value."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def _over(runs: list[Mapping[str, Any]]) -> dict[str, Any]:
    keys = dict.fromkeys(key for run in runs for key in run["measures"])
    values = {key: [run["measures"][key] for run in runs if key in run["measures"]] for key in keys}
    measures = {key: dict(zip(("mean", "sd"), spread(column), strict=True)) for key, column in values.items()}
    return {"seeds": [run.get("seed") for run in runs], "measures": measures}


_NOTES = {
    "mean length of a query's relevant moments": said("Mean length of a query's relevant moments."),
    "show of a query's most relevant moment (the first of equals)": said(
        "Show of a query's most relevant moment (the first of equals)."
    ),
    "video of a query's most relevant moment (the first of equals)": said(
        "Video of a query's most relevant moment (the first of equals)."
    ),
    "highest relevance of a query's moments": said("Highest relevance of a query's moments."),
}
"""The notes on groups that pages offer, as sentences. The keys are the notes as a summary holds them."""


def groups(summary: Mapping[str, Any], by: str, key: str | None = None, shown: Shown = PLAIN) -> Table:
    """Return a table of groups of queries: how many queries of a group count, and each run's mean in it.

    `by` is the property that defines the groups, such as `duration`. The mean is of the measure
    `key`, such as `ndcg@20,0.5`; None takes the summary's main one (`focus`). Cells have bars relative to the best mean
    of the table.
    """
    focus = summary["focus"] if key is None else key
    runs = summary["runs"]
    entry = named_keys(summary, [focus])[focus]
    first = runs[0]["by"][by]
    columns = (
        Column("group", said("group"), first["note"], number=False),
        Column("queries", said("queries"), said("That count; from and to where runs differ."), "queries"),
        *(Column(run["name"], label(run), entry.help, run=True) for run in runs),
    )
    groups_of_runs = {name: [run["by"][by]["groups"][name] for run in runs] for name in first["groups"]}
    sizes = {name: [group["queries"] for group in parts] for name, parts in groups_of_runs.items()}
    means = {name: [group["measures"].get(focus) for group in parts] for name, parts in groups_of_runs.items()}
    best = max((mean for row in means.values() for mean in row if mean is not None), default=0.0)
    rows = tuple(
        (
            Cell(name, name),
            Cell(max(sizes[name]), span_of(sizes[name])),
            *(
                Cell(mean, shown.number(mean, entry.measure), share=(mean or 0.0) / best if best > 0 else 0.0)
                for mean in row
            ),
        )
        for name, row in means.items()
    )
    title = said("Mean {measure} by {by}, preset {preset}", measure=focus, by=by, preset=conventions(summary))
    note = first["note"]
    return Table(title, columns, rows, (_NOTES.get(note, f"{note[:1].upper()}{note[1:]}."),))


def narrow_groups(summary: Mapping[str, Any], by: str, key: str | None = None) -> Table:
    """Return a table of each run's mean in groups of queries, narrow enough for a page.

    `by` is the property that defines the groups, such as `duration`, and `key` the measure, such as `ndcg@20,0.5`; None
    takes the main one. The rows are the groups, or the runs if there are more runs than groups.
    """
    table = groups(summary, by, key)
    return table.turned() if len(summary["runs"]) > len(table.rows) else table


def span_of(sizes: Sequence[int]) -> str:
    """Return the lowest and highest of some counts as text: one number if all are equal, `-` if there are none."""
    if not sizes:
        return "-"
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"
