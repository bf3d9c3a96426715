"""The figure of label noise: lines by the noise's median IoU, or a dot for each system."""

import altair as alt

from backend.scoring import measures as family
from backend.scoring.studies.figures.parts import distinct, lines_of, title
from backend.scoring.studies.noise import MEAN_OF_SYSTEMS
from backend.scoring.studies.study import Study


def label_noise(study: Study) -> alt.TopLevelMixin:
    """Several sigmas: lines by median IoU; one: a dot for each system. What has no upper bound has its own axis."""
    several = len(distinct(study, "sigma_s")) > 1
    panel = _noise_lines if several else _noise_dots
    everything = distinct(study, "measure")
    unbounded = [key for key in everything if not _bounded(key)]
    parts = [part for part in ([key for key in everything if key not in unbounded], unbounded) if part]
    panels = [panel(study, part) for part in parts]
    figure: alt.HConcatChart | alt.VConcatChart = alt.hconcat(*panels) if several else alt.vconcat(*panels)
    iou = study.rows[0]["median_iou"]
    note = "" if several else f" Black bar: mean of the systems. Median IoU with the moments as given: {iou:.3f}."
    figure.title = title(study, "How far does label noise move a measure?", note)
    return figure


def _noise_lines(study: Study, measures: list[str]) -> alt.LayerChart | alt.FacetChart:
    rows = [row for row in study.rows if row["system"] == MEAN_OF_SYSTEMS and row["measure"] in measures]
    sigmas = {row["sigma_s"]: {"sigma": f"sigma {row['sigma_s']:g} s", "median_iou": row["median_iou"]} for row in rows}
    x = alt.X(
        "median_iou:Q",
        title="median IoU with the moments as given",
        scale=alt.Scale(zero=False, padding=14),
    )
    lines = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(point=alt.OverlayMarkDef(size=35, filled=True), strokeWidth=1.8)
        .encode(
            x=x,
            y=alt.Y("rmse:Q", title=_rmse_title(measures, "mean RMSE of the systems' means")),
            **lines_of(distinct(study, "measure")),
        )
    )
    marks = alt.Chart(alt.InlineData(values=list(sigmas.values()))).encode(x=x)
    rules = marks.mark_rule(color="#bbbbbb", strokeDash=[2, 2])
    # Above the panel, where no line is.
    names = marks.mark_text(angle=300, align="left", baseline="middle", dx=5, fontSize=10, color="#666666")
    named = names.encode(y=alt.value(0), text="sigma:N")
    width = 400 if _bounded(measures[0]) else 260
    return alt.layer(rules, named, lines).properties(width=width, height=300)


def _noise_dots(study: Study, measures: list[str]) -> alt.LayerChart | alt.FacetChart:
    rows = [row for row in study.rows if row["measure"] in measures]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y("measure:N", sort=measures, title=None),
        x=alt.X(
            "rmse:Q",
            title=_rmse_title(measures, "RMSE of a system's mean"),
            axis=alt.Axis(tickCount=5, labelFlush=False),
        ),
    )
    dots = (
        base.transform_filter(f"datum.system !== '{MEAN_OF_SYSTEMS}'")
        .mark_circle(size=45, opacity=0.7)
        .encode(color=alt.Color("system:N", title="system", sort=distinct(study, "system")))
    )
    means = base.transform_filter(f"datum.system === '{MEAN_OF_SYSTEMS}'").mark_tick(
        color="black", thickness=2.5, size=16
    )
    return alt.layer(dots, means).properties(width=460, height=alt.Step(22))


def _rmse_title(measures: list[str], text: str) -> str:
    """What has no upper bound says so: it is not measured in the same units."""
    return text + ("" if _bounded(measures[0]) else " (not in 0..1)")


def _bounded(key: str) -> bool:
    return family.MEASURES[key.partition("@")[0]].highest is not None
