"""Draw Figure 8 of the MVMR paper as an Altair chart, from similarities that are computed elsewhere."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import altair as alt

_OUTLINE_STEPS = 120
"""Number of points of each side of a violin."""


@dataclass(frozen=True, slots=True, eq=False)
class Violin:
    """The similarities of the pairs with one label, `(pairs,)`, to be drawn as a violin."""

    label: str
    similarities: npt.NDArray[np.float64]

    def outline(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return similarities from low to high, and the violin's width at each, at most 1.

        The width is the density of the pairs, by a Gaussian kernel with the bandwidth 1.06 s n^(-1/5) (Silverman,
        "Density Estimation", 1986, section 3.4.2), or 0.01 if that is more. Outlines end one bandwidth beyond the
        pairs, but not beyond a cosine of 1.
        """
        values = self.similarities
        bandwidth = max(0.01, 1.06 * float(values.std()) * len(values) ** -0.2)
        at = np.linspace(values.min() - bandwidth, min(values.max() + bandwidth, 1), _OUTLINE_STEPS)
        counts, edges = np.histogram(values, bins=4 * _OUTLINE_STEPS)
        centres = (edges[:-1] + edges[1:]) / 2
        density = np.exp(-0.5 * ((at[:, None] - centres) / bandwidth) ** 2) @ counts
        return at, density / density.max()


def violin_chart(
    violins: Sequence[Violin],
    quantiles: Sequence[dict[str, Any]],
    thresholds: dict[str, float],
    axis: str,
    subtitle: list[str],
    *,
    by_count: bool,
) -> "alt.TopLevelMixin":
    """Draw Figure 8 of the MVMR paper: how similar an encoder finds pairs of texts, by the label that people gave.

    Args:
        violins: the pairs of each label, from left to right.
        quantiles: `q05`, `q25`, `median`, `q75` and `q95` of each violin.
        thresholds: names and values of lines across all violins.
        axis: the title of the labels' axis.
        subtitle: the lines below the title.
        by_count: whether the width of a violin is in proportion to its number of pairs, as in the paper; otherwise all
            are equally wide.
    """
    import altair as alt

    from backend.scoring.drawing import PALETTE

    most = max(len(violin.similarities) for violin in violins)
    outlines = []
    for place, violin in enumerate(violins):
        widest = 0.46 * (len(violin.similarities) / most if by_count else 1)
        for at, width in zip(*(side.tolist() for side in violin.outline()), strict=True):
            outlines.append(
                {"label": violin.label, "at": at, "left": place - widest * width, "right": place + widest * width}
            )
    labels = json.dumps([[violin.label, f"{len(violin.similarities):,} pairs"] for violin in violins])
    across = alt.Scale(domain=[-0.6, len(violins) - 0.4], nice=False, zero=False)
    ticks = alt.Axis(values=list(range(len(violins))), labelExpr=f"{labels}[datum.value]", grid=False, title=axis)
    low = min(0.0, *(row["at"] for row in outlines))
    up = alt.Scale(domain=[low - 0.02, 1.02], nice=False)
    boxes = alt.Chart(alt.InlineData([row | {"place": place} for place, row in enumerate(quantiles)]))
    centre = alt.X("place:Q", scale=across, axis=ticks)
    lines = alt.Chart(
        alt.InlineData([{"at": value, "what": f"{name} {value:g}"} for name, value in thresholds.items()])
    )
    chart: alt.TopLevelMixin = alt.layer(
        alt.Chart(alt.InlineData(outlines))
        .mark_area(orient="horizontal", color=PALETTE[5], opacity=0.9, stroke=PALETTE[0], strokeWidth=1)
        .encode(
            x=alt.X("left:Q", scale=across, axis=ticks),
            x2="right:Q",
            y=alt.Y("at:Q", scale=up, title="Similarity (cosine)"),
            detail="label:N",
        ),
        boxes.mark_rule(color="#444444").encode(x=centre, y=alt.Y("q05:Q", scale=up), y2="q95:Q"),
        boxes.mark_rule(color="#444444", strokeWidth=7).encode(x=centre, y=alt.Y("q25:Q", scale=up), y2="q75:Q"),
        boxes.mark_circle(size=34, color="#ffffff", opacity=1).encode(x=centre, y=alt.Y("median:Q", scale=up)),
        lines.mark_rule(strokeDash=[5, 3], color=PALETTE[1]).encode(y=alt.Y("at:Q", scale=up)),
        lines.mark_text(align="left", baseline="bottom", dx=4, dy=-2, color=PALETTE[1], fontSize=11).encode(
            x=alt.value(0), y=alt.Y("at:Q", scale=up), text="what:N"
        ),
    ).properties(
        width=max(420, 70 * len(violins)),
        height=340,
        title=alt.TitleParams("How similar are pairs that are labelled alike?", subtitle=subtitle, anchor="start"),
    )
    return chart
