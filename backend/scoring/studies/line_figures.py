"""Draw the figures of studies that compare lines under one legend, and choose the figure of a study."""

from collections.abc import Callable
from typing import Any

from backend.scoring import measures as family
from backend.scoring.drawing import Specification, channel
from backend.scoring.studies.cell_figures import agreement, axioms, distinct, lines_of, model_selection, ties, title
from backend.scoring.studies.noise import MEAN_OF_SYSTEMS
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


def label_noise(study: Study) -> Specification:
    """Several sigmas: lines by median IoU; one: a dot for each system. What has no upper bound has its own axis."""
    several = len(distinct(study, "sigma_s")) > 1
    panel = _noise_lines if several else _noise_dots
    everything = distinct(study, "measure")
    unbounded = [key for key in everything if not _bounded(key)]
    parts = [part for part in ([key for key in everything if key not in unbounded], unbounded) if part]
    panels = [panel(study, part) for part in parts]
    iou = study.rows[0]["median_iou"]
    note = "" if several else f" Black bar: mean of the systems. Median IoU with the moments as given: {iou:.3f}."
    told = title(study, "How far does label noise move a measure?", note)
    return {"title": told, "hconcat" if several else "vconcat": panels}


def _noise_lines(study: Study, measures: list[str]) -> Specification:
    rows = [row for row in study.rows if row["system"] == MEAN_OF_SYSTEMS and row["measure"] in measures]
    sigmas = {row["sigma_s"]: {"sigma": f"sigma {row['sigma_s']:g} s", "median_iou": row["median_iou"]} for row in rows}
    marks = {"data": {"values": list(sigmas.values())}}
    text = {"type": "text", "angle": 300, "align": "left", "baseline": "middle", "dx": 5, "fontSize": 10}
    x = channel("median_iou:Q", title="median IoU with the moments as given", scale={"zero": False, "padding": 14})
    y = channel("rmse:Q", title=_rmse_title(measures, "mean RMSE of the systems' means"))
    return {
        "width": 400 if _bounded(measures[0]) else 260,
        "height": 300,
        "encoding": {"x": x},
        "layer": [
            marks | {"mark": {"type": "rule", "color": "#bbbbbb", "strokeDash": [2, 2]}},
            # Above the panel, where no line is.
            marks | {"mark": text | {"color": "#666666"}, "encoding": {"y": {"value": 0}, "text": channel("sigma:N")}},
            {
                "data": {"values": rows},
                "mark": {"type": "line", "point": {"size": 35, "filled": True}, "strokeWidth": 1.8},
                "encoding": {"y": y, **lines_of(distinct(study, "measure"))},
            },
        ],
    }


def _noise_dots(study: Study, measures: list[str]) -> Specification:
    axis = {"tickCount": 5, "labelFlush": False}
    return {
        "width": 460,
        "height": {"step": 22},
        "data": {"values": [row for row in study.rows if row["measure"] in measures]},
        "encoding": {
            "x": channel("rmse:Q", title=_rmse_title(measures, "RMSE of a system's mean"), axis=axis),
            "y": channel("measure:N", title=None, sort=measures),
        },
        "layer": [
            {
                "transform": [{"filter": f"datum.system !== '{MEAN_OF_SYSTEMS}'"}],
                "mark": {"type": "circle", "size": 45, "opacity": 0.7},
                "encoding": {"color": channel("system:N", title="system", sort=distinct(study, "system"))},
            },
            {
                "transform": [{"filter": f"datum.system === '{MEAN_OF_SYSTEMS}'"}],
                "mark": {"type": "tick", "color": "black", "thickness": 2.5, "size": 16},
            },
        ],
    }


def _rmse_title(measures: list[str], text: str) -> str:
    """What has no upper bound says so: it is not measured in the same units."""
    return text + ("" if _bounded(measures[0]) else " (not in 0..1)")


def _bounded(key: str) -> bool:
    return family.MEASURES[key.partition("@")[0]].highest is not None


_FIGURES: dict[str, Callable[[Study], Specification]] = {
    "agreement": agreement,
    "stability": stability,
    "noise": label_noise,
    "ties": ties,
    "model-selection": model_selection,
    "axioms": axioms,
    "theory": theory,
}


def draw(study: Study) -> Specification:
    """Return the figure of a study."""
    return _FIGURES[study.name](study)
