"""What the figures of studies share: titles, and lines of measures under one legend."""

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

from backend.scoring.drawing import PALETTE, Specification, channel, heading
from backend.scoring.studies.study import Study

_SUBTITLE = 100
"""Characters in a line of the subtitle."""
_DASHES = [[1, 0], [7, 3], [2, 2], [9, 2, 2, 2], [4, 5]]
_LEGEND_ROWS = 18
_REST = [5, 3]
"""Dashes of what is drawn in black."""


def distinct(study: Study, field: str) -> list[Any]:
    """The values of a field, in the order of the rows."""
    return list(dict.fromkeys(row[field] for row in study.rows))


def title(study: Study, text: str, note: str = "") -> Specification:
    """The title, and under it what the numbers depend on."""
    return heading(text, wrap(study.description + "." + note, _SUBTITLE))


def lines_of(names: list[str], field: str = "measure", black: str | None = None) -> Specification:
    """Colours and dashes of lines, with one legend: ten colours, then the same ones dashed; `black` sets one apart."""
    coloured = [name for name in names if name != black]
    colours = {name: PALETTE[n % len(PALETTE)] for n, name in enumerate(coloured)}
    dashes = {name: _DASHES[n // len(PALETTE) % len(_DASHES)] for n, name in enumerate(coloured)}
    if black:
        colours[black], dashes[black] = "#000000", _REST
    legend = {
        "columns": 1 + (len(names) - 1) // _LEGEND_ROWS,
        "symbolType": "stroke",
        "symbolSize": 500,
        "symbolStrokeWidth": 2.5,
    }

    def looks(of: Mapping[str, Any]) -> Specification:
        scale = {"domain": names, "range": [of[name] for name in names]}
        return channel(f"{field}:N", sort=names, title="measure", legend=legend, scale=scale)

    return {"color": looks(colours), "strokeDash": looks(dashes)}
