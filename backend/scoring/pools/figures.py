"""The chart of runs in their queries' own videos and in their pools (MVMR's Figure 6).

Reads and writes nothing.
"""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from backend.scoring.drawing import PALETTE, Specification, channel, heading
from backend.scoring.views.pools import OWN, POOL, bars
from backend.scoring.views.ranking import sentence

_WIDTH, _HEIGHT = 200, 150
"""Of a panel, in pixels."""


def draw_own_and_pool(summary: Mapping[str, Any]) -> Specification:
    """A row of panels for each run, a panel for each measure and threshold; of a board in pools and in own videos."""
    rows = bars(summary)
    runs, panels = (list(dict.fromkeys(row[name] for row in rows)) for name in ("run", "panel"))
    grid = []
    for run in runs:
        row = [_panel(name, [row for row in rows if (row["run"], row["panel"]) == (run, name)]) for name in panels]
        grid.append({"title": {"text": run, "anchor": "start"}, "hconcat": row})
    title = "The same runs in the query's own video and in its pool of videos"
    return {"title": heading(title, wrap(sentence(summary), 110)), "vconcat": grid}


def _panel(name: str, rows: list[dict[str, Any]]) -> Specification:
    colour = channel(
        "setting:N",
        title=None,
        scale={"domain": [OWN, POOL], "range": PALETTE[:2]},
        legend={"orient": "bottom", "direction": "horizontal"},
    )
    return {
        "title": {"text": name, "fontSize": 12, "fontWeight": "normal"},
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": rows},
        "encoding": {
            "x": channel(
                "k:O", title="K" if any(row["k"] for row in rows) else None, axis={"labelAngle": 0, "grid": False}
            ),
            "xOffset": channel("setting:N", sort=[OWN, POOL]),
            "y": channel("value:Q", title=None, scale={"domain": [0, max(1.0, *(row["value"] for row in rows))]}),
        },
        "layer": [
            {"mark": "bar", "encoding": {"color": colour}},
            {
                "mark": {"type": "text", "dy": -5, "fontSize": 8},
                "encoding": {"text": channel("value:Q", format=".2f")},
            },
        ],
    }
