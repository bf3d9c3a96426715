"""The figures of a benchmark as its own evaluator prints them.

Reads and writes nothing; the summary is what `Scoreboard.summary` makes of a benchmark's scoreboard.
"""

from collections.abc import Mapping
from typing import Any

from backend.scoring.views.marking import eligible, marks
from backend.scoring.views.naming import named
from backend.scoring.views.table import Cell, Column, Table


def figures(summary: Mapping[str, Any]) -> Table:
    """A row a figure, a column a run; the second column is the value of this product that the figure is."""
    benchmark, runs = summary["benchmark"], summary["runs"]
    names = named(summary, [figure["key"] for figure in benchmark["figures"] if figure["key"]])
    rows, fair = [], eligible(summary)
    for figure in benchmark["figures"]:
        values = [run["figures"][figure["name"]] for run in runs]
        among = [value for value, alike in zip(values, fair, strict=True) if alike and value is not None]
        best = max(among, default=None)
        cells = [
            Cell(value, printed(benchmark, value), marks(None, best=alike and value is not None and value == best))
            for value, alike in zip(values, fair, strict=True)
        ]
        title = ", ".join(
            part for part in (names[figure["key"]].title if figure["key"] else "", figure["about"]) if part
        )
        rows.append((Cell(figure["name"], figure["name"]), Cell(title, title), *cells))
    columns = (
        Column("figure", "figure", number=False),
        Column("title", "computed as", number=False),
        *(Column(run["name"], run["name"], run=True) for run in runs),
    )
    unit = ", in percent" if benchmark["percent"] else ""
    notes = (f"Evaluator: {benchmark['evaluator']}.", *benchmark["notes"])
    return Table(f"{benchmark['title']}{unit}", columns, tuple(rows), notes)


def printed(benchmark: Mapping[str, Any], value: float | None) -> str:
    """A value with the benchmark's digits, `-` where there is none."""
    if value is None:
        return "-"
    return f"{value * 100 if benchmark['percent'] else value:.{benchmark['digits']}f}"
