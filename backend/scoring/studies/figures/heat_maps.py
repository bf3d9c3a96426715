"""Figures of all pairs of measures: a cell each."""

import altair as alt

from backend.scoring.studies.figures.parts import data, distinct, title
from backend.scoring.studies.study import Study

_LABELLED = 16
"""Measures of a heat map up to which every cell has room for its number."""
_DIVERGING = ["#b2182b", "#f7f7f7", "#2166ac"]


def agreement(study: Study) -> alt.TopLevelMixin:
    """Kendall's tau-b of every two measures."""
    return _heat_map(
        study,
        ("first", "second", "tau_b"),
        "Do measures order the systems alike?",
        "Kendall's tau-b",
        ("measure", "measure"),
    )


def model_selection(study: Study) -> alt.TopLevelMixin:
    """z-scores on test of what each measure selects on validation."""
    return _heat_map(
        study,
        ("validation_measure", "test_measure", "z"),
        "How good is the model that a measure selects?",
        f"z over the {study.choices['z_over']}",
        ("selects on validation", "judges on test"),
    )


def _heat_map(
    study: Study, fields: tuple[str, str, str], text: str, legend: str, axes: tuple[str, str]
) -> alt.TopLevelMixin:
    row, column, value = fields
    order, across = distinct(study, row), distinct(study, column)
    longest = max(len(order), len(across))
    size = 44 if longest <= _LABELLED else max(12, 640 // longest)
    limit = 1.0 if value == "tau_b" else max([1.0, *(abs(float(r[value] or 0)) for r in study.rows)])
    scale = alt.Scale(domain=[-limit, 0, limit], range=_DIVERGING)
    base = alt.Chart(data(study)).encode(
        x=alt.X(f"{column}:N", sort=across, title=axes[1], axis=alt.Axis(orient="top", labelAngle=-60, grid=False)),
        y=alt.Y(f"{row}:N", sort=order, title=axes[0], axis=alt.Axis(grid=False)),
    )
    cells = base.transform_filter(f"datum.{value} !== null").mark_rect(stroke="white")
    layers: list[alt.Chart] = [
        base.transform_filter(f"datum.{value} === null").mark_rect(fill="#dddddd", stroke="white"),
        cells.encode(color=alt.Color(f"{value}:Q", title=legend, scale=scale)),
    ]
    if longest <= _LABELLED:
        dark = f"datum.{value} !== null && abs(datum.{value}) > {0.7 * limit}"
        label = f"datum.{value} === null ? 'n/a' : replace(format(datum.{value}, '.2f'), '−', '-')"
        layers.append(
            base.transform_calculate(label=label)
            .mark_text(fontSize=11)
            .encode(text="label:N", color=alt.condition(dark, alt.value("white"), alt.value("black")))
        )
    note = " Grey: undefined, a measure ties all systems." if any(r[value] is None for r in study.rows) else ""
    return alt.layer(*layers).properties(
        width=alt.Step(size), height=alt.Step(size if size < 44 else 28), title=title(study, text, note)
    )
