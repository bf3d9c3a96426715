"""Draw the charts of an evaluation as image files, for a paper.

Writes: an image file.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from backend.core.atomic_output import new_files
from backend.core.errors import InputError
from backend.scoring.drawing import PALETTE, Chart, Specification, channel, heading, save
from backend.scoring.report.parts import PICTURES, Picture, by_cutoff_picture, order_picture
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.errors import OWN, POOL, bars
from backend.scoring.views.ranking import sentence
from backend.scoring.views.table import named_keys

_WIDE = 110
"""Characters in a line of the subtitle."""
_WIDTH, _HEIGHT = 200, 150
"""Width and height of a panel in the chart of own videos and pools, in pixels."""
_APART = {"scale": {"xOffset": "independent"}}
"""A shared scale puts bars beside their tick in panels with fewer cut-offs than the first."""


def write_figure(name: str, summary: Mapping[str, Any], path: Path) -> None:
    """Draw one chart of an evaluation into an image file. An existing file is replaced.

    Args:
        name: the chart: `by-k` (the means by cut-off), `order` (the order of runs under each measure) or `own-video`
            (scores in the own video and in the pool).
        summary: the summary of a scoreboard; its `focus` is the measure shown. For `own-video`, runs must be scored
            both in pools of videos and in the query's own video.
        path: a `.svg` or `.png` file.

    Raises:
        InputError: this evaluation has nothing for the figure to show.
        ProjectError: the file cannot be written.
    """
    chart = FIGURES[name](summary)
    with new_files(path.parent) as part:
        save(chart, part / path.name)


def chart_of(board: Scoreboard, name: str | None = None, key: str | None = None) -> Chart:
    """Return a chart of the report, to show in a notebook or to save.

    Args:
        board: the scores.
        name: the chart: `by-k` (the means by cut-off), `order` (the order of runs under each measure), `queries` (the
            two best runs, query by query) or `iou` (how close each query's best prediction comes). None takes the first
            of these that has something to show.
        key: the measure shown, such as `ndcg@20,0.5`; None takes the main one (`focus`).

    Raises:
        InputError: there is no such chart or measure, or nothing for the chart to show.
    """
    summary, focus = board.summary(), board.focus if key is None else key
    if focus not in board.settings.keys:
        raise InputError.single("key", f"{focus!r} is not one of {', '.join(board.settings.keys)}")
    if name is not None and name not in PICTURES:
        raise InputError.single("plot", f"{name!r} is not one of {', '.join(PICTURES)}")
    for draw in PICTURES.values() if name is None else [PICTURES[name]]:
        if picture := draw(board, summary, focus):
            return Chart(picture.title, _with_title(picture, summary))
    shown = ", ".join(other for other, draw in PICTURES.items() if draw(board, summary, focus))
    raise InputError.single("plot", f"{name} has nothing to show for {focus} of these runs; these have: {shown}")


def _by_k(summary: Mapping[str, Any]) -> Specification:
    focus = summary["focus"]
    if named_keys(summary, [focus])[focus].measure.depth:
        why = f"{focus} has no cut-off: put a measure with cut-offs first, such as --measure recall --k 1,5,10"
    else:
        why = f"{focus} has only one cut-off: give several, such as --k 1,5,10,20,50,100"
    return _titled(by_cutoff_picture(summary, summary["focus"]), summary, "by-k", why)


def _order(summary: Mapping[str, Any]) -> Specification:
    why = "this chart compares the order of runs: give at least two runs and two measures"
    return _titled(order_picture(summary, summary["focus"]), summary, "order", why)


def _titled(picture: Picture | None, summary: Mapping[str, Any], name: str, why: str) -> Specification:
    """Return the chart of `picture` with a title, its caption, and the settings that the numbers depend on.

    Raises:
        InputError: `picture` is None, so the chart `name` would be empty; `why` says what is missing.
    """
    if picture is None:
        raise InputError.single("--chart", f"{name} would be empty: {why}")
    return _with_title(picture, summary)


def _with_title(picture: Picture, summary: Mapping[str, Any]) -> Specification:
    subtitle = wrap(picture.caption, _WIDE) + wrap(sentence(summary), _WIDE)
    return picture.chart | {"background": "white", "title": heading(picture.title, subtitle)}


def _own_and_pool(summary: Mapping[str, Any]) -> Specification:
    """Draw each run's scores in the query's own video beside those in its pool of videos, as in MVMR's Figure 6.

    Each run is a row of panels, one for each measure and threshold.
    """
    rows = bars(summary)
    runs, panels = (list(dict.fromkeys(row[name] for row in rows)) for name in ("run", "panel"))
    grid = []
    for run in runs:
        row = [_panel(name, [row for row in rows if (row["run"], row["panel"]) == (run, name)]) for name in panels]
        grid.append({"title": {"text": run, "anchor": "start"}, "hconcat": row, "resolve": _APART})
    title = "The same runs in the query's own video and in its pool of videos"
    return {"title": heading(title, wrap(sentence(summary), _WIDE)), "vconcat": grid}


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


FIGURES: Mapping[str, Callable[[Mapping[str, Any]], Specification]] = {
    "by-k": _by_k,
    "order": _order,
    "own-video": _own_and_pool,
}
"""The functions that draw the figures, by figure name."""
