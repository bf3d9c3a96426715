"""Draw the figures of studies: line charts with one legend, heat maps and bars."""

from collections.abc import Callable, Mapping
from textwrap import wrap
from typing import Any

from backend.scoring import measures as family
from backend.scoring.drawing import PALETTE, Specification, channel, heading
from backend.scoring.studies.noise import AXIOU, MEAN_OF_SYSTEMS
from backend.scoring.studies.study import Cell, Study

_SUBTITLE = 100
"""Characters in a line of the subtitle."""
_DASHES = [[1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 5]]
_LEGEND_ROWS = 18
_REST = [5, 3]
"""Dashes of the line that is drawn in black."""


def distinct(study: Study, field: str) -> list[Any]:
    """Return the values of a field, each once, in the order of the rows."""
    return list(dict.fromkeys(row[field] for row in study.rows))


def title(study: Study, text: str, note: str = "") -> Specification:
    """Return a chart's title `text`, with the study's description and `note` as the subtitle."""
    return heading(text, wrap(study.description + "." + note, _SUBTITLE))


def lines_of(names: list[str], field: str = "measure", black: str | None = None) -> Specification:
    """Return chart encodings that give each line a colour and a dash pattern, with one legend for both.

    The first ten lines have ten colours; later ones repeat them with dashes. The line named `black` is black instead.
    """
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

    def scale_channel(ranges: Mapping[str, Any]) -> Specification:
        scale = {"domain": names, "range": [ranges[name] for name in names]}
        return channel(f"{field}:N", sort=names, title="measure", legend=legend, scale=scale)

    return {"color": scale_channel(colours), "strokeDash": scale_channel(dashes)}


_LABELLED = 16
"""Up to this many measures, each cell of a heat map has room for its number."""
_DIVERGING = ["#b2182b", "#f7f7f7", "#2166ac"]


def agreement(study: Study) -> Specification:
    """Draw Kendall's tau-b of every two measures as a heat map."""
    return _heat_map(
        study,
        ("first", "second", "tau_b"),
        "Do measures order the systems alike?",
        "Kendall's tau-b",
        ("measure", "measure"),
    )


def model_selection(study: Study) -> Specification:
    """Draw how good the models that measures select are, as a heat map of z-scores.

    Each row is a measure that selects the best model on validation queries. Each column is a measure that judges this
    model on test queries.
    """
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
    """Draw a table of measures and axioms, with the counterexamples."""
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
    """Draw for each measure the share of queries on which all systems have the same value."""
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


_STABILITY = (("mean", "mean tau-b", 1.0), ("variance", "variance of tau-b", 0.0))
"""Panels: the field, the title of its axis, and the top of its axis (0: set by the data)."""
_THEORY = (("squared_bias", "squared bias", 0.25), ("variance", "variance", 0.25), ("mse", "mean squared error", 0.5))


def stability(study: Study) -> Specification:
    """Draw how well each measure ranks systems alike on two sets of queries, by the size of the sets.

    One panel has the mean of Kendall's tau-b between the two rankings, the other its variance. Each panel has all
    measures, because tau-b does not depend on a measure's unit.
    """
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
    """Draw the errors of R@1 and AxIoU@1 if IoUs are measured with noise: squared bias, variance and MSE.

    There is a row of panels for each kind of error, with one panel for each gamma, the standard deviation of the noise.
    Each panel has all curves of R@1, and AxIoU@1 in black.
    """
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
    """Draw how much label noise (imprecise starts and ends in the truth) changes the mean scores of systems.

    With several standard deviations of the noise, it draws lines over them, as in AxIoU, Figure 7, and names the median
    IoU between noisy and given moments at each.
    With only one, it draws a dot for each system. Measures without an upper bound have an axis of their own.
    """
    several = len(distinct(study, "sigma_s")) > 1
    panel = _noise_lines if several else _noise_dots
    everything = distinct(study, "measure")
    unbounded = [key for key in everything if not _bounded(key)]
    parts = [part for part in ([key for key in everything if key not in unbounded], unbounded) if part]
    panels = [panel(study, part) for part in parts]
    iou = study.rows[0]["median_iou"]
    note = "" if several else f" Black bar: mean of the systems. Median IoU with the moments as given: {iou:.3f}."
    heading_spec = title(study, "How far does label noise move a measure?", note)
    return {"title": heading_spec, "hconcat" if several else "vconcat": panels}


def _noise_lines(study: Study, measures: list[str]) -> Specification:
    rows = [row for row in study.rows if row["system"] == MEAN_OF_SYSTEMS and row["measure"] in measures]
    sigmas = {row["sigma_s"]: {"sigma_s": row["sigma_s"], "iou": f"IoU {row['median_iou']:.2f}"} for row in rows}
    marks = {"data": {"values": list(sigmas.values())}}
    text = {"type": "text", "angle": 300, "align": "left", "baseline": "middle", "dx": 5, "fontSize": 10}
    x = channel("sigma_s:Q", title="noise level sigma (s), with the median IoU of noisy and given moments")
    y = channel("rmse:Q", title=_rmse_title(measures, "mean RMSE of the systems' means"))
    return {
        "width": 400 if _bounded(measures[0]) else 260,
        "height": 300,
        "encoding": {"x": x},
        "layer": [
            marks | {"mark": {"type": "rule", "color": "#bbbbbb", "strokeDash": [2, 2]}},
            # The text stands above the panel, where it crosses no line.
            marks | {"mark": text | {"color": "#666666"}, "encoding": {"y": {"value": 0}, "text": channel("iou:N")}},
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
    """Return `text` as the title of an axis; if `measures` have no upper bound, with a warning: not in 0..1."""
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
    """Draw the figure of a study."""
    return _FIGURES[study.name](study)
