"""The figure of the axioms: a cell for each measure and axiom, with the counterexample where there is one."""

from backend.scoring.drawing import Specification, channel
from backend.scoring.studies.figures.parts import distinct, title
from backend.scoring.studies.study import Cell, Study

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
