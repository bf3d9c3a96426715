"""Figures of lines that are to be compared: in one panel, under one legend."""

from typing import Any

from backend.scoring.drawing import Specification, channel
from backend.scoring.studies.figures.parts import distinct, lines_of, title
from backend.scoring.studies.study import Study
from backend.scoring.studies.theory import AXIOU

_STABILITY = (("mean", "mean tau-b", 1.0), ("variance", "variance of tau-b", 0.0))
"""Panels: field, title of its axis, top of its axis (0: as the data ask)."""
_THEORY = (("squared_bias", "squared bias", 0.25), ("variance", "variance", 0.25), ("mse", "mean squared error", 0.5))


def stability(study: Study) -> Specification:
    """All measures in one panel of means and one of variances, under one legend: tau-b has no unit of a measure."""
    panels = [_stability_panel(study, *field) for field in _STABILITY]
    return {"title": title(study, "How stable is the order of systems?"), "hconcat": panels}


def _stability_panel(study: Study, field: str, name: str, highest: float) -> Specification:
    rows = [row for row in study.rows if row[field] is not None]
    lowest = min([0.0, *(float(str(row["mean"])) for row in rows)])
    return {
        "width": 340,
        "height": 300,
        "data": {"values": rows},
        "mark": {"type": "line", "point": {"size": 35, "filled": True}, "strokeWidth": 1.8},
        "encoding": {
            "x": channel(
                "size:Q",
                title="queries in each of the two sets (log scale)",
                scale={"type": "log", "nice": False},
                axis={"values": sorted(distinct(study, "size")), "format": "d"},
            ),
            "y": channel(f"{field}:Q", title=name, scale={"domain": [lowest, highest]} if highest else {}),
            **lines_of(distinct(study, "measure")),
        },
    }


def theory(study: Study) -> Specification:
    """Squared bias, variance and MSE by gamma: in each panel all curves of R@1, and AxIoU@1 in black."""
    over = str(study.choices["over"])
    rows = [{**row, "curve": _curve_name(row, over)} for row in study.rows]
    names = list(dict.fromkeys(str(row["curve"]) for row in rows))
    x = channel(f"{over}:Q", title="true IoU r" if over == "r" else "threshold theta")
    lines = lines_of(names, "curve", AXIOU)
    figures = []
    for field, name, highest in _THEORY:
        axis = {"format": ".2f", "minExtent": 32}
        y = channel(f"{field}:Q", title=name, scale={"domain": [0, highest]}, axis=axis)
        panels = [
            {
                "title": f"gamma = {gamma:g}",
                "width": 210,
                "height": 130,
                "transform": [{"filter": f"datum.gamma === {gamma!r}"}],
                "mark": {"type": "line", "strokeWidth": 1.8},
                "encoding": {"x": x, "y": y, **lines},
            }
            for gamma in distinct(study, "gamma")
        ]
        figures.append({"hconcat": panels})
    text = "R@1, IoU>=theta and AxIoU@1 when IoU is seen with Gaussian noise"
    return {"title": title(study, text), "data": {"values": rows}, "vconcat": figures}


def _curve_name(row: dict[str, Any], over: str) -> str:
    return f"recall@1 at r = {row['r']:g}" if over == "theta" and row["r"] is not None else str(row["measure"])
