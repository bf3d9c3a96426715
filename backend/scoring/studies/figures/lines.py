"""Figures of lines that are to be compared: in one panel, under one legend."""

from typing import Any

import altair as alt

from backend.scoring.studies.figures.parts import distinct, lines_of, title
from backend.scoring.studies.study import Study
from backend.scoring.studies.theory import AXIOU

_STABILITY = (("mean", "mean tau-b", 1.0), ("variance", "variance of tau-b", 0.0))
"""Panels: field, title of its axis, top of its axis (0: as the data ask)."""
_THEORY = (("squared_bias", "squared bias", 0.25), ("variance", "variance", 0.25), ("mse", "mean squared error", 0.5))


def stability(study: Study) -> alt.TopLevelMixin:
    """All measures in one panel of means and one of variances, under one legend: tau-b has no unit of a measure."""
    figure: alt.HConcatChart = alt.hconcat(*(_stability_panel(study, *field) for field in _STABILITY))
    figure.title = title(study, "How stable is the order of systems?")
    return figure


def _stability_panel(study: Study, field: str, name: str, highest: float) -> alt.Chart:
    rows = [row for row in study.rows if row[field] is not None]
    sizes = sorted(distinct(study, "size"))
    lowest = min([0.0, *(float(str(row["mean"])) for row in rows)])
    lines: alt.Chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=alt.OverlayMarkDef(size=35, filled=True), strokeWidth=1.8)
        .encode(
            x=alt.X(
                "size:Q",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=sizes, format="d"),
                title="queries in each of the two sets (log scale)",
            ),
            y=alt.Y(f"{field}:Q", title=name, scale=alt.Scale(domain=[lowest, highest] if highest else alt.Undefined)),
            **lines_of(distinct(study, "measure")),
        )
        .properties(width=340, height=300)
    )
    return lines


def theory(study: Study) -> alt.TopLevelMixin:
    """Squared bias, variance and MSE by gamma: in each panel all curves of R@1, and AxIoU@1 in black."""
    over = str(study.choices["over"])
    rows = [{**row, "curve": _curve_name(row, over)} for row in study.rows]
    names = list(dict.fromkeys(str(row["curve"]) for row in rows))
    figures = []
    for field, name, highest in _THEORY:
        panels = [
            alt.Chart(alt.InlineData(values=rows), title=f"gamma = {gamma:g}")
            .transform_filter(f"datum.gamma === {gamma!r}")
            .mark_line(strokeWidth=1.8)
            .encode(
                x=alt.X(f"{over}:Q", title="true IoU r" if over == "r" else "threshold theta"),
                y=alt.Y(
                    f"{field}:Q",
                    title=name,
                    scale=alt.Scale(domain=[0, highest]),
                    axis=alt.Axis(format=".2f", minExtent=32),
                ),
                **lines_of(names, "curve", AXIOU),
            )
            .properties(width=210, height=130)
            for gamma in distinct(study, "gamma")
        ]
        figures.append(alt.hconcat(*panels))
    text = "R@1, IoU>=theta and AxIoU@1 when IoU is seen with Gaussian noise"
    return alt.vconcat(*figures).properties(title=title(study, text))


def _curve_name(row: dict[str, Any], over: str) -> str:
    return f"recall@1 at r = {row['r']:g}" if over == "theta" and row["r"] is not None else str(row["measure"])
