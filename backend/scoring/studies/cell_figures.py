"""Draw the figures of studies that are read cell by cell or bar by bar: agreement, model selection, axioms, ties."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from backend.scoring.drawing import PALETTE, Specification, channel, heading
from backend.scoring.studies.study import Cell, Study

_SUBTITLE = 100
"""Characters in a line of the subtitle."""
_DASHES = [[1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 5]]
_LEGEND_ROWS = 18
_REST = [5, 3]
"""Dashes of what is drawn in black."""


def distinct(study: Study, field: str) -> list[Any]:
    """The values of a field, in the order of the rows."""
    return list(dict.fromkeys(row[field] for row in study.rows))


def title(study: Study, text: str, note: str = "") -> Specification:
    """The title, and under it what the numbers depend on."""
    return heading(text, wrap(study.description + "." + note, _SUBTITLE))


def lines_of(names: list[str], field: str = "measure", black: str | None = None) -> Specification:
    """Colours and dashes of lines, with one legend: ten colours, then the same ones dashed; `black` sets one apart."""
    coloured = [name for name in names if name != black]
    colours = {name: PALETTE[n % len(PALETTE)] for n, name in enumerate(coloured)}
    dashes = {name: _DASHES[n // len(PALETTE) % len(_DASHES)] for n, name in enumerate(coloured)}
    if black:
        colours[black], dashes[black] = "#000000", _REST
    legend = {
        "columns": 1 + (len(names) - 1) // _LEGEND_ROWS,
        "symbolType": "stroke",
        "symbolSize": 500,
        "symbolStrokeWidth": 2.5,
    }

    def looks(of: Mapping[str, Any]) -> Specification:
        scale = {"domain": names, "range": [of[name] for name in names]}
        return channel(f"{field}:N", sort=names, title="measure", legend=legend, scale=scale)

    return {"color": looks(colours), "strokeDash": looks(dashes)}


_LABELLED = 16
"""Measures of a heat map up to which every cell has room for its number."""
_DIVERGING = ["#b2182b", "#f7f7f7", "#2166ac"]


def agreement(study: Study) -> Specification:
    """Kendall's tau-b of every two measures."""
    return _heat_map(
        study,
        ("first", "second", "tau_b"),
        "Do measures order the systems alike?",
        "Kendall's tau-b",
        ("measure", "measure"),
    )


def model_selection(study: Study) -> Specification:
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
) -> Specification:
    row, column, value = fields
    order, across = distinct(study, row), distinct(study, column)
    longest = max(len(order), len(across))
    size = 44 if longest <= _LABELLED else max(12, 640 // longest)
    limit = 1.0 if value == "tau_b" else max([1.0, *(abs(float(r[value] or 0)) for r in study.rows)])
    undefined, defined = f"datum.{value} === null", f"datum.{value} !== null"
    color = channel(f"{value}:Q", title=legend, scale={"domain": [-limit, 0, limit], "range": _DIVERGING})
    layers: list[Specification] = [
        {"transform": [{"filter": undefined}], "mark": {"type": "rect", "fill": "#dddddd", "stroke": "white"}},
        {
            "transform": [{"filter": defined}],
            "mark": {"type": "rect", "stroke": "white"},
            "encoding": {"color": color},
        },
    ]
    if longest <= _LABELLED:
        dark = f"{defined} && abs(datum.{value}) > {0.7 * limit}"
        label = f"{undefined} ? 'n/a' : replace(format(datum.{value}, '.2f'), '−', '-')"
        ink = {"condition": {"test": dark, "value": "white"}, "value": "black"}
        layers.append(
            {
                "transform": [{"calculate": label, "as": "label"}],
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {"text": channel("label:N"), "color": ink},
            }
        )
    note = " Grey: undefined, a measure ties all systems." if any(r[value] is None for r in study.rows) else ""
    axis = {"orient": "top", "labelAngle": -60, "grid": False}
    return {
        "title": title(study, text, note),
        "width": {"step": size},
        "height": {"step": size if size < 44 else 28},
        "data": {"values": study.rows},
        "encoding": {
            "x": channel(f"{column}:N", title=axes[1], sort=across, axis=axis),
            "y": channel(f"{row}:N", title=axes[0], sort=order, axis={"grid": False}),
        },
        "layer": layers,
    }


_FILLS = {"domain": ["not broken", "broken"], "range": ["#d6e6f4", "#fadbd2"]}


def axioms(study: Study) -> Specification:
    """Measures by axioms."""
    axis = {"orient": "top", "labelAngle": 0, "grid": False, "labelFontWeight": "bold"}
    note = " In a cell: IoU of the predictions before and after, and below the values of the measure."
    return {
        "title": title(study, "Which axioms does a measure satisfy?", note),
        "width": {"step": 250},
        "height": {"step": 40},
        "data": {"values": [row | {"change": _change(row), "values": _values(row)} for row in study.rows]},
        "encoding": {
            "x": channel("axiom:N", title=None, axis=axis),
            "y": channel("measure:N", title=None, sort=distinct(study, "measure"), axis={"grid": False}),
        },
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white", "strokeWidth": 2},
                "encoding": {"fill": channel("verdict:N", title="axiom", scale=_FILLS)},
            },
            *(
                {"mark": {"type": "text", "fontSize": 10.5, "dy": dy}, "encoding": {"text": channel(text)}}
                for text, dy in (("change:N", -7), ("values:N", 8))
            ),
        ],
    }


def _change(row: dict[str, Cell]) -> str:
    if row["verdict"] == "broken":
        return f"({row['before']}) → ({row['after']})"
    return f"none of {row['changes']:,}"


def _values(row: dict[str, Cell]) -> str:
    if row["verdict"] == "broken":
        return f"{row['value_before']:.4f} → {row['value_after']:.4f}"
    return "changes breaks it"


def ties(study: Study) -> Specification:
    """The share of queries on which all systems tie."""
    text = {"type": "text", "align": "left", "dx": 4, "fontSize": 11}
    return {
        "title": title(study, "How often does a measure see no difference?"),
        "width": 460,
        "height": {"step": 22},
        "data": {"values": study.rows},
        "encoding": {
            "x": channel("ratio:Q", title="queries on which all systems tie", axis={"format": "%"}),
            "y": channel("measure:N", title=None, sort=distinct(study, "measure")),
        },
        "layer": [
            {"mark": {"type": "bar", "color": PALETTE[0]}},
            {"mark": text, "encoding": {"text": channel("ratio:Q", format=".1%")}},
        ],
    }
