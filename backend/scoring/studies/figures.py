"""The figures of studies: each a function of the study's rows, with its choices in the subtitle."""

from collections.abc import Callable
from textwrap import wrap
from typing import Any

import altair as alt

from backend.scoring.drawing import PALETTE
from backend.scoring.studies.noise import MEAN_OF_SYSTEMS
from backend.scoring.studies.study import Study
from backend.scoring.studies.theory import AXIOU

_LABELLED = 16
"""Measures of a heat map up to which every cell has room for its number."""
_SUBTITLE = 100
"""Characters in a line of the subtitle."""
_DIVERGING = ["#b2182b", "#f7f7f7", "#2166ac"]
_STABILITY = (("mean", "mean tau-b", 1.0), ("variance", "variance of tau-b", 0.0))
"""Panels: field, title of its axis, top of its axis (0: as the data ask)."""


def draw(study: Study) -> alt.TopLevelMixin:
    """The figure of any study."""
    figures: dict[str, Callable[[Study], alt.TopLevelMixin]] = {
        "agreement": _agreement,
        "stability": _stability,
        "noise": _noise,
        "ties": _ties,
        "model-selection": _model_selection,
        "theory": _theory,
    }
    return figures[study.name](study)


def _agreement(study: Study) -> alt.TopLevelMixin:
    return _heat_map(
        study,
        ("first", "second", "tau_b"),
        "Do measures order the systems alike?",
        "Kendall's tau-b",
        ("measure", "measure"),
    )


def _model_selection(study: Study) -> alt.TopLevelMixin:
    return _heat_map(
        study,
        ("validation_measure", "test_measure", "z"),
        "How good is the model that a measure selects?",
        f"z over the {study.choices['z_over']}",
        ("selects on validation", "judges on test"),
    )


def _heat_map(
    study: Study, fields: tuple[str, str, str], title: str, legend: str, axes: tuple[str, str]
) -> alt.TopLevelMixin:
    row, column, value = fields
    order, across = _distinct(study, row), _distinct(study, column)
    longest = max(len(order), len(across))
    size = 44 if longest <= _LABELLED else max(12, 640 // longest)
    limit = 1.0 if value == "tau_b" else max([1.0, *(abs(float(r[value] or 0)) for r in study.rows)])
    scale = alt.Scale(domain=[-limit, 0, limit], range=_DIVERGING)
    base = alt.Chart(_data(study)).encode(
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
        text = alt.Text("label:N")
        label = f"datum.{value} === null ? 'n/a' : replace(format(datum.{value}, '.2f'), '−', '-')"
        layers.append(
            base.transform_calculate(label=label)
            .mark_text(fontSize=11)
            .encode(text=text, color=alt.condition(dark, alt.value("white"), alt.value("black")))
        )
    note = " Grey: undefined, a measure ties all systems." if any(r[value] is None for r in study.rows) else ""
    return alt.layer(*layers).properties(
        width=alt.Step(size), height=alt.Step(size if size < 44 else 28), title=_title(study, title, note)
    )


def _stability(study: Study) -> alt.TopLevelMixin:
    """A row of panels, with a legend of its own, for each family of measures (what stands before the @)."""
    families: dict[str, list[str]] = {}
    for measure in _distinct(study, "measure"):
        families.setdefault(measure.partition("@")[0], []).append(measure)
    rows = [
        alt.hconcat(*(_stability_panel(study, members, *field) for field in _STABILITY)).resolve_scale(
            color="shared", strokeDash="shared"
        )
        for members in families.values()
    ]
    figure: alt.VConcatChart = alt.vconcat(*rows).resolve_scale(color="independent", strokeDash="independent")
    figure.title = _title(study, "How stable is the order of systems?")
    return figure


def _stability_panel(study: Study, measures: list[str], field: str, name: str, highest: float) -> alt.Chart:
    rows = [row for row in study.rows if row["measure"] in measures and row[field] is not None]
    sizes = sorted(_distinct(study, "size"))
    lowest = min([0.0, *(float(str(row["mean"])) for row in study.rows if row["mean"] is not None)])
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
            color=alt.Color("measure:N", sort=measures, scale=alt.Scale(domain=measures, range=PALETTE)),
            strokeDash=alt.StrokeDash("measure:N", sort=measures, legend=None),
        )
        .properties(width=340, height=260)
    )
    return lines


def _noise(study: Study) -> alt.TopLevelMixin:
    order = _distinct(study, "measure")
    many = len(_distinct(study, "sigma_s")) > 1
    base = alt.Chart(_data(study)).encode(
        y=alt.Y("measure:N", sort=order, title=None),
        x=alt.X("rmse:Q", title="RMSE of a system's mean", axis=alt.Axis(tickCount=5, labelFlush=False)),
    )
    dots = (
        base.transform_filter(f"datum.system !== '{MEAN_OF_SYSTEMS}'")
        .mark_circle(size=45, opacity=0.7)
        .encode(color=alt.Color("system:N", title="system", sort=_distinct(study, "system")))
    )
    means = base.transform_filter(f"datum.system === '{MEAN_OF_SYSTEMS}'").mark_tick(
        color="black", thickness=2.5, size=16
    )
    layers = alt.layer(dots, means).properties(width=260 if many else 460, height=alt.Step(22))
    title = _title(study, "How far does label noise move a measure?", " Black bar: mean of the systems.")
    if many:
        return layers.facet(column=alt.Column("sigma_s:N", title="sigma of a boundary, in seconds")).properties(
            title=title
        )
    return layers.properties(title=title)


def _ties(study: Study) -> alt.TopLevelMixin:
    base = alt.Chart(_data(study)).encode(
        y=alt.Y("measure:N", sort=_distinct(study, "measure"), title=None),
        x=alt.X("ratio:Q", title="queries on which all systems tie", axis=alt.Axis(format="%")),
    )
    bars = base.mark_bar(color=PALETTE[0])
    text = base.mark_text(align="left", dx=4, fontSize=11).encode(text=alt.Text("ratio:Q", format=".1%"))
    return alt.layer(bars, text).properties(
        width=460, height=alt.Step(22), title=_title(study, "How often does a measure see no difference?")
    )


def _theory(study: Study) -> alt.TopLevelMixin:
    order = _distinct(study, "measure")
    colours = alt.Scale(domain=order, range=[*PALETTE[: len(order) - 1], "#000000"])
    dash = alt.condition(f"datum.measure === '{AXIOU}'", alt.value([5, 3]), alt.value([1, 0]))
    rows = []
    for field, name, highest in (
        ("squared_bias", "squared bias", 0.25),
        ("variance", "variance", 0.25),
        ("mse", "mean squared error", 0.5),
    ):
        panels = [
            alt.Chart(_data(study), title=f"gamma = {gamma:g}")
            .transform_filter(f"datum.gamma === {gamma!r}")
            .mark_line(strokeWidth=1.8)
            .encode(
                x=alt.X("r:Q", title="true IoU r"),
                y=alt.Y(
                    f"{field}:Q",
                    title=name,
                    scale=alt.Scale(domain=[0, highest]),
                    axis=alt.Axis(format=".2f", minExtent=32),
                ),
                color=alt.Color("measure:N", title="measure", scale=colours),
                strokeDash=dash,
            )
            .properties(width=210, height=130)
            for gamma in _distinct(study, "gamma")
        ]
        rows.append(alt.hconcat(*panels))
    title = "R@1, IoU>=theta and AxIoU@1 when IoU is seen with Gaussian noise"
    return alt.vconcat(*rows).properties(title=_title(study, title))


def _data(study: Study) -> alt.InlineData:
    return alt.InlineData(values=study.rows)


def _distinct(study: Study, field: str) -> list[Any]:
    return list(dict.fromkeys(row[field] for row in study.rows))


def _title(study: Study, title: str, note: str = "") -> alt.TitleParams:
    """The title, and under it what the numbers depend on."""
    return alt.TitleParams(
        title, subtitle=wrap(study.description + "." + note, _SUBTITLE), anchor="start", offset=12, fontSize=15
    )
