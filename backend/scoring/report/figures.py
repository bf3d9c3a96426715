"""The charts of an evaluation as files of their own, to stand in a paper.

Writes: an image file.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from backend.core.arriving import new_files
from backend.core.errors import InputError
from backend.scoring.drawing import Specification, heading, save
from backend.scoring.measures import measure_of
from backend.scoring.pools.figures import draw_own_and_pool
from backend.scoring.report.parts import Picture, by_cutoff_picture, order_picture
from backend.scoring.views.ranking import sentence

_WIDE = 110
"""Characters in a line of the subtitle."""


def write_figure(name: str, summary: Mapping[str, Any], path: Path) -> None:
    """Draw one of `FIGURES` by the measure in focus; an earlier file is replaced.

    Args:
        name: of the figure.
        summary: of a scoreboard; for `own-video` of one in pools and in the own video.
        path: a `.svg` or `.png` file.

    Raises:
        InputError: this evaluation has nothing for the figure to show.
        ProjectError: the file cannot be written.
    """
    chart = FIGURES[name](summary)
    with new_files(path.parent) as part:
        save(chart, part / path.name)


def _by_k(summary: Mapping[str, Any]) -> Specification:
    focus = summary["focus"]
    if measure_of(focus).depth:
        why = f"{focus} has no cut-off: put a measure that has some first, such as --measure recall --k 1,5,10"
    else:
        why = f"there is one cut-off for {focus}: give several, such as --k 1,5,10,20,50,100"
    return _titled(by_cutoff_picture(summary, summary["focus"]), summary, "by-k", why)


def _order(summary: Mapping[str, Any]) -> Specification:
    why = "runs are sorted by one measure under others: give two runs or more, and two measures or more"
    return _titled(order_picture(summary, summary["focus"]), summary, "order", why)


def _titled(picture: Picture | None, summary: Mapping[str, Any], name: str, why: str) -> Specification:
    """The chart with what it shows, and what the numbers depend on."""
    if picture is None:
        raise InputError.single("--chart", f"{name} would be empty: {why}")
    told = wrap(picture.caption, _WIDE) + wrap(sentence(summary), _WIDE)
    return picture.chart | {"background": "white", "title": heading(picture.title, told)}


FIGURES: Mapping[str, Callable[[Mapping[str, Any]], Specification]] = {
    "by-k": _by_k,
    "order": _order,
    "own-video": draw_own_and_pool,
}
"""What can be drawn, by the name that it is asked for by."""
