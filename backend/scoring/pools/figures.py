"""The chart of runs in their queries' own videos and in their pools (MVMR's Figure 6).

Reads and writes nothing.
"""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import altair as alt

from backend.scoring.drawing import PALETTE
from backend.scoring.views.pools import OWN, POOL, bars
from backend.scoring.views.ranking import sentence

_WIDTH, _HEIGHT = 200, 150
"""Of a panel, in pixels."""


def draw_own_and_pool(summary: Mapping[str, Any]) -> alt.TopLevelMixin:
    """A row of panels for each run, a panel for each measure and threshold; of a board in pools and in own videos."""
    rows = bars(summary)
    runs, panels = (list(dict.fromkeys(row[name] for row in rows)) for name in ("run", "panel"))
    colour = alt.Color(
        "setting:N",
        title=None,
        scale=alt.Scale(domain=[OWN, POOL], range=PALETTE[:2]),
        legend=alt.Legend(orient="bottom", direction="horizontal"),
    )

    def panel(run: str, name: str) -> alt.LayerChart | alt.FacetChart:
        chosen = [row for row in rows if (row["run"], row["panel"]) == (run, name)]
        base = alt.Chart(alt.InlineData(values=chosen)).encode(
            x=alt.X(
                "k:O", title="K" if any(row["k"] for row in chosen) else None, axis=alt.Axis(labelAngle=0, grid=False)
            ),
            xOffset=alt.XOffset("setting:N", sort=[OWN, POOL]),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, max(1.0, *(row["value"] for row in chosen))])),
        )
        text = base.mark_text(dy=-5, fontSize=8).encode(text=alt.Text("value:Q", format=".2f"))
        return alt.layer(base.mark_bar().encode(color=colour), text).properties(
            width=_WIDTH, height=_HEIGHT, title=alt.TitleParams(name, fontSize=12, fontWeight="normal")
        )

    grid = [
        alt.hconcat(*(panel(run, name) for name in panels)).properties(title=alt.TitleParams(run, anchor="start"))
        for run in runs
    ]
    title = alt.TitleParams(
        "The same runs in the query's own video and in its pool of videos",
        subtitle=wrap(sentence(summary), 110),
        anchor="start",
        offset=12,
        fontSize=15,
    )
    figure: alt.VConcatChart = alt.vconcat(*grid).properties(title=title)
    return figure
