"""The chart of runs in their queries' own videos and in their pools (MVMR's Figure 6).

Writes: an image file.
"""

from collections.abc import Mapping
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from backend.ground.arriving import new_files
from backend.scoring.views.pools import OWN, POOL, bars
from backend.scoring.views.ranking import sentence

if TYPE_CHECKING:
    import altair as alt

_WIDTH, _HEIGHT = 200, 150
"""Of a panel, in pixels."""


def write_own_and_pool(summary: Mapping[str, Any], path: Path) -> None:
    """Draw a row of panels for each run, a panel for each measure and threshold; an earlier file is replaced.

    Args:
        summary: of a scoreboard in pools and in the own video.
        path: a `.svg` or `.png` file.

    Raises:
        ProjectError: the file cannot be written.
    """
    # Charts take as long to load as everything else together.
    from backend.scoring.drawing import save

    chart = _draw(summary)
    with new_files(path.parent) as part:
        save(chart, part / path.name)


def _draw(summary: Mapping[str, Any]) -> "alt.TopLevelMixin":
    import altair as alt

    from backend.scoring.drawing import PALETTE

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
