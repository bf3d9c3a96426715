"""Figures of all pairs of measures: a cell each."""

from backend.scoring.drawing import Specification, channel
from backend.scoring.studies.figures.parts import distinct, title
from backend.scoring.studies.study import Study

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
