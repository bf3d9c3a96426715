"""The figure of the axioms: a cell for each measure and axiom, with the counterexample where there is one."""

import altair as alt

from backend.scoring.studies.figures.parts import distinct, title
from backend.scoring.studies.study import Cell, Study

_FILLS = alt.Scale(domain=["not broken", "broken"], range=["#d6e6f4", "#fadbd2"])


def axioms(study: Study) -> alt.TopLevelMixin:
    """Measures by axioms."""
    rows = [row | {"change": _change(row), "values": _values(row)} for row in study.rows]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("axiom:N", title=None, axis=alt.Axis(orient="top", labelAngle=0, grid=False, labelFontWeight="bold")),
        y=alt.Y("measure:N", sort=distinct(study, "measure"), title=None, axis=alt.Axis(grid=False)),
    )
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(
        fill=alt.Fill("verdict:N", title="axiom", scale=_FILLS)
    )
    words = [base.mark_text(fontSize=10.5, dy=dy).encode(text=text) for text, dy in (("change:N", -7), ("values:N", 8))]
    note = " In a cell: IoU of the predictions before and after, and below the values of the measure."
    return alt.layer(cells, *words).properties(
        width=alt.Step(250), height=alt.Step(40), title=title(study, "Which axioms does a measure satisfy?", note)
    )


def _change(row: dict[str, Cell]) -> str:
    if row["verdict"] == "broken":
        return f"({row['before']}) → ({row['after']})"
    return f"none of {row['changes']:,}"


def _values(row: dict[str, Cell]) -> str:
    if row["verdict"] == "broken":
        return f"{row['value_before']:.4f} → {row['value_after']:.4f}"
    return "changes breaks it"
