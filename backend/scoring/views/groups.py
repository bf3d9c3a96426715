"""Means of groups of queries.

Reads and writes nothing; the summary is what `Scoreboard.summary` makes with `by`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.core.messages import said
from backend.scoring.views.naming import named
from backend.scoring.views.number_format import PLAIN, Shown
from backend.scoring.views.ranking import conventions
from backend.scoring.views.table import Cell, Column, Table

_NOTES = {
    "mean length of a query's relevant moments": said("Mean length of a query's relevant moments."),
    "show of a query's most relevant moment (the first of equals)": said(
        "Show of a query's most relevant moment (the first of equals)."
    ),
    "highest relevance of a query's moments": said("Highest relevance of a query's moments."),
}
"""What the groups that pages offer are by, as a sentence; a summary has it as it stands here before it."""


def groups(summary: Mapping[str, Any], by: str, key: str | None = None, shown: Shown = PLAIN) -> Table:
    """One breakdown: each group, how many of its queries count, and each run's mean of one measure (in focus, if None).

    Bars are relative to the best mean of the table.
    """
    focus = summary["focus"] if key is None else key
    runs = summary["runs"]
    one = named(summary, [focus])[focus]
    first = runs[0]["by"][by]
    columns = (
        Column("group", said("group"), first["note"], number=False),
        Column("queries", said("queries"), said("That count; from and to where runs differ."), "queries"),
        *(Column(run["name"], run["name"], one.help, run=True) for run in runs),
    )
    found = {name: [run["by"][by]["groups"][name] for run in runs] for name in first["groups"]}
    means = {name: [group["measures"].get(focus) for group in parts] for name, parts in found.items()}
    best = max((mean for row in means.values() for mean in row if mean is not None), default=0.0)
    rows = tuple(
        (
            Cell(name, name),
            _size([group["queries"] for group in found[name]]),
            *(
                Cell(mean, shown.number(mean, one.measure), share=(mean or 0.0) / best if best > 0 else 0.0)
                for mean in row
            ),
        )
        for name, row in means.items()
    )
    title = said("Mean {measure} by {by}, preset {preset}", measure=focus, by=by, preset=conventions(summary))
    note = first["note"]
    return Table(title, columns, rows, (_NOTES.get(note, f"{note[:1].upper()}{note[1:]}."),))


def narrow_groups(summary: Mapping[str, Any], by: str, key: str | None = None) -> Table:
    """One breakdown, turned to a row for each run where there are more runs than groups: for a page."""
    table = groups(summary, by, key)
    return table.turned() if len(summary["runs"]) > len(table.rows) else table


def _size(sizes: Sequence[int]) -> Cell:
    low, high = min(sizes), max(sizes)
    return Cell(high, f"{low:,}" if low == high else f"{low:,}-{high:,}")
