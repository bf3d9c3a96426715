"""Charts of an evaluation: means by cut-off, runs in another order, differences of two runs, best IoUs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.drawing import PALETTE, Specification, channel
from backend.scoring.views.curves import Order, Point, short_names

_BINS = np.linspace(0.0, 1.0, 11)


def by_cutoff(points: Sequence[Point], title: str) -> Specification:
    """Small multiples, one for each threshold: a run's mean against the cut-off.

    Args:
        points: of as many runs as can be told apart.
        title: of the vertical axis, such as `NDCG`.
    """
    names = short_names(list(dict.fromkeys(point.run for point in points)))
    shown = list(names.values())
    rows = [{"run": names[point.run], "k": point.k, "panel": point.panel, "value": point.value} for point in points]
    cutoffs = sorted({point.k for point in points})
    panel = {
        "width": 300,
        "height": 210,
        "encoding": {
            "x": channel("k:O", title="K (ranks that count)", sort=cutoffs, axis={"labelAngle": 0, "grid": False}),
            "y": channel("value:Q", title=f"mean {title}", axis={"format": ".2f", "tickCount": 5}),
            "color": _run_color(shown),
            # The same scale and title as the colour, or there would be two legends.
            "shape": channel("run:N", sort=shown, scale={"domain": shown}, title=None),
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}},
            {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}},
        ],
    }
    column = channel("panel:N", title=None, header={"labelFontWeight": "bold"})
    return _chart(rows) | {"facet": {"column": column}, "spacing": 24, "spec": panel}


def order(orders: Sequence[Order]) -> Specification:
    """Small multiples, one for each measure: runs from top to bottom as the first measure sorts them, and their means.

    A filled point is a run that its measure puts before one that stands above it.
    """
    names = short_names([step.run for step in orders[0].steps])
    panels = {one.key: f"{one.title}{_alike(one) if n else ''}" for n, one in enumerate(orders)}
    rows = [
        {
            "panel": panels[one.key],
            "run": names[step.run],
            "place": step.place,
            "value": step.value,
            "ahead": step.ahead,
        }
        for one in orders
        for step in one.steps
    ]
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {
            "color": {"condition": {"test": "datum.ahead", "value": PALETTE[1]}, "value": PALETTE[0]},
            "shape": {"condition": {"test": "datum.ahead", "value": "diamond"}, "value": "circle"},
        },
    }
    panel = {
        "width": 190,
        "height": {"step": 20},
        "encoding": {
            "x": channel("value:Q", title=None, scale={"zero": False}, axis={"format": ".3~f", "tickCount": 4}),
            "y": channel("run:N", title=None, sort=list(names.values()), axis={"labelLimit": 240, "grid": False}),
        },
        "layer": [
            {
                "mark": {"type": "line", "color": "#888888", "strokeWidth": 1.5},
                "encoding": {"order": channel("place:Q")},
            },
            points,
        ],
    }
    header = {"labelExpr": "split(datum.label, ' · ')", "labelLimit": 240}
    return _chart(rows) | {
        "facet": channel("panel:N", title=None, sort=list(panels.values()), header=header),
        "columns": 3,
        "spacing": 16,
        "resolve": {"scale": {"x": "independent"}},
        "spec": panel,
    }


def _alike(one: Order) -> str:
    return "" if one.tau_b is None else f" · tau-b {one.tau_b:.2f}"


def differences(values: Floats, title: str, colors: tuple[str, str] = (PALETTE[0], PALETTE[1])) -> Specification:
    """Sorted bars, one for each query: how much better (above 0) or worse a run is than another.

    Args:
        values: differences, shape (Q,), in any order.
        title: what was subtracted from what.
        colors: of the run that is better above 0, and of the other.
    """
    falling = np.sort(values)[::-1].tolist()
    count = len(falling)
    # Whole areas rather than one bar each: thousands of bars would be a giant picture of the same outline.
    rows = [{"place": i, "up": max(value, 0.0), "down": min(value, 0.0)} for i, value in _thinned(falling)]
    x = channel(
        "place:Q",
        title=f"{count:,} queries, sorted",
        scale={"domain": [0, max(count - 1, 1)], "nice": False},
        axis={"grid": False, "format": ",d", "tickCount": 5},
    )
    axis = {"format": "+.1f", "tickCount": 5}
    up, down = channel("up:Q", title="difference", axis=axis), channel("down:Q", axis=axis)
    areas = [
        {"mark": {"type": "area", "color": color, "interpolate": "step"}, "encoding": {"x": x, "y": y}}
        for y, color in zip((up, down), colors, strict=True)
    ]
    zero = {
        "data": {"values": [{"y": 0}]},
        "mark": {"type": "rule", "color": "#888888"},
        "encoding": {"y": channel("y:Q")},
    }
    return _chart(rows) | {"title": title, "width": 620, "height": 210, "layer": [*areas, zero]}


def best_iou(best: Mapping[str, Floats], k: int) -> Specification:
    """Small multiples, one for each run: how many queries have which best IoU within the first `k` predictions."""
    names = short_names(list(best), 24)
    shown = {names[run]: values for run, values in best.items()}
    rows = []
    for run, values in shown.items():
        counts = np.histogram(values, _BINS)[0]
        for low, high, count in zip(_BINS[:-1], _BINS[1:], counts, strict=True):
            rows.append({"run": run, "low": round(low, 1), "high": round(high, 1), "queries": int(count)})
    axis = {"grid": False, "format": ".1f"}
    panel = {
        "width": 225,
        "height": 120,
        "mark": {"type": "bar", "binSpacing": 1},
        "encoding": {
            "x": channel("low:Q", bin="binned", title=f"best IoU of ranks 1-{k}", axis=axis),
            "x2": {"field": "high"},
            "y": channel("queries:Q", title="queries", axis={"tickCount": 4}),
            "color": _run_color(list(shown)) | {"legend": None},
        },
    }
    header = {"labelFontWeight": "bold", "labelLimit": 225}
    return _chart(rows) | {
        "facet": channel("run:N", title=None, sort=list(shown), header=header),
        "columns": 4,
        "spacing": 20,
        "spec": panel,
    }


def _chart(rows: Sequence[Mapping[str, Any]]) -> Specification:
    return {"background": "transparent", "data": {"values": rows}}


def _run_color(runs: Sequence[str]) -> Specification:
    return channel(
        "run:N",
        title=None,
        sort=runs,
        scale={"domain": runs, "range": PALETTE[: len(runs)]},
        legend={"orient": "top", "columns": 4, "labelLimit": 260},
    )


def _thinned(values: Sequence[float], most: int = 600) -> list[tuple[int, float]]:
    """At most about `most` evenly spaced values, with their places; first and last always."""
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
    return [(int(place), values[place]) for place in places]
