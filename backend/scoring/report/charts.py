"""Charts of an evaluation: means by cut-off, runs in another order, differences of two runs, best IoUs."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from backend.ground.timespan import Floats
from backend.scoring.drawing import PALETTE
from backend.scoring.views.curves import Order, Point, short_names

_BINS = np.linspace(0.0, 1.0, 11)


def by_cutoff(points: Sequence[Point], title: str) -> alt.TopLevelMixin:
    """Small multiples, one for each threshold: a run's mean against the cut-off.

    Args:
        points: of as many runs as can be told apart.
        title: of the vertical axis, such as `NDCG`.
    """
    names = short_names(list(dict.fromkeys(point.run for point in points)))
    shown = list(names.values())
    rows: list[dict[str, Any]] = [
        {"run": names[point.run], "k": point.k, "panel": point.panel, "value": point.value} for point in points
    ]
    cutoffs = sorted({point.k for point in points})
    base = _chart(rows).encode(
        x=alt.X(
            "k:O", title="K (ranks that count)", sort=[*map(float, cutoffs)], axis=alt.Axis(labelAngle=0, grid=False)
        ),
        y=alt.Y("value:Q", title=f"mean {title}", scale=alt.Scale(zero=True), axis=alt.Axis(format=".2f", tickCount=5)),
        color=_run_color(shown),
        # The same scale and title as the colour, or there would be two legends.
        shape=alt.Shape("run:N", sort=shown, scale=alt.Scale(domain=shown), title=None),
    )
    layers = base.mark_line(strokeWidth=2) + base.mark_point(filled=True, size=60, opacity=1)
    chart: alt.TopLevelMixin = (
        layers.properties(width=300, height=210)
        .facet(column=alt.Column("panel:N", title=None, header=alt.Header(labelFontWeight="bold")), spacing=24)
        .configure(background="transparent")
    )
    return chart


def order(orders: Sequence[Order]) -> alt.TopLevelMixin:
    """Small multiples, one for each measure: runs from top to bottom as the first measure sorts them, and their means.

    A filled point is a run that its measure puts before one that stands above it.
    """
    names = short_names([step.run for step in orders[0].steps])
    panels = {one.key: f"{one.title}{_alike(one) if n else ''}" for n, one in enumerate(orders)}
    rows: list[dict[str, Any]] = [
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
    base = _chart(rows).encode(
        x=alt.X("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(format=".3~f", tickCount=4)),
        y=alt.Y("run:N", sort=list(names.values()), title=None, axis=alt.Axis(labelLimit=240, grid=False)),
    )
    line = base.mark_line(color="#888888", strokeWidth=1.5).encode(order="place:Q")
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        color=alt.condition("datum.ahead", alt.value(PALETTE[1]), alt.value(PALETTE[0])),
        shape=alt.condition("datum.ahead", alt.value("diamond"), alt.value("circle")),
    )
    chart: alt.TopLevelMixin = (
        (line + points)
        .properties(width=190, height=alt.Step(20))
        .facet(
            facet=alt.Facet(
                "panel:N",
                title=None,
                sort=list(panels.values()),
                header=alt.Header(labelExpr="split(datum.label, ' · ')", labelLimit=240),
            ),
            columns=3,
            spacing=16,
        )
        .resolve_scale(x="independent")
        .configure(background="transparent")
    )
    return chart


def _alike(one: Order) -> str:
    return "" if one.tau_b is None else f" · tau-b {one.tau_b:.2f}"


def differences(values: Floats, title: str, colors: tuple[str, str] = (PALETTE[0], PALETTE[1])) -> alt.TopLevelMixin:
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
    base = _chart(rows).encode(
        x=alt.X(
            "place:Q",
            title=f"{count:,} queries, sorted",
            scale=alt.Scale(domain=[0, max(count - 1, 1)], nice=False),
            axis=alt.Axis(grid=False, format=",d", tickCount=5),
        )
    )
    y = alt.Axis(format="+.1f", tickCount=5)
    up = base.mark_area(color=colors[0], interpolate="step").encode(y=alt.Y("up:Q", title="difference", axis=y))
    down = base.mark_area(color=colors[1], interpolate="step").encode(y=alt.Y("down:Q", axis=y))
    zero = _chart([{"y": 0}]).mark_rule(color="#888888").encode(y="y:Q")
    chart: alt.TopLevelMixin = (
        (up + down + zero).properties(width=620, height=210, title=title).configure(background="transparent")
    )
    return chart


def best_iou(best: Mapping[str, Floats], k: int) -> alt.TopLevelMixin:
    """Small multiples, one for each run: how many queries have which best IoU within the first `k` predictions."""
    names = short_names(list(best), 24)
    shown = {names[run]: values for run, values in best.items()}
    rows = []
    for run, values in shown.items():
        counts = np.histogram(values, _BINS)[0]
        for low, high, count in zip(_BINS[:-1], _BINS[1:], counts, strict=True):
            rows.append({"run": run, "low": round(low, 1), "high": round(high, 1), "queries": int(count)})
    chart: alt.TopLevelMixin = (
        _chart(rows)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", bin="binned", title=f"best IoU of ranks 1-{k}", axis=alt.Axis(grid=False, format=".1f")),
            x2="high:Q",
            y=alt.Y("queries:Q", title="queries", axis=alt.Axis(tickCount=4)),
            color=_run_color(list(shown), legend=False),
        )
        .properties(width=225, height=120)
        .facet(
            facet=alt.Facet(
                "run:N", title=None, sort=list(shown), header=alt.Header(labelFontWeight="bold", labelLimit=225)
            ),
            columns=4,
            spacing=20,
        )
        .configure(background="transparent")
    )
    return chart


def _chart(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]  # Altair does not type its constructor


def _run_color(runs: Sequence[str], *, legend: bool = True) -> alt.Color:
    return alt.Color(
        "run:N",
        sort=list(runs),
        scale=alt.Scale(domain=list(runs), range=PALETTE[: len(runs)]),
        title=None,
        legend=alt.Legend(orient="top", columns=4, labelLimit=260) if legend else None,
    )


def _thinned(values: Sequence[float], most: int = 600) -> list[tuple[int, float]]:
    """At most about `most` evenly spaced values, with their places; first and last always."""
    places = np.unique(np.linspace(0, len(values) - 1, min(len(values), most)).round().astype(int))
    return [(int(place), values[place]) for place in places]
