"""One look for all charts, and charts as files: Altair describes them, vl-convert draws them."""

from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000", "#8c564b", "#bcbd22"]
"""Okabe and Ito's colours first: told apart by colour-blind readers, on white and in print."""

_FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": _FONT,
    "range": {"category": PALETTE},
    "view": {"stroke": None},
    "axis": {"grid": True, "gridColor": "#e6e6e6", "domainColor": "#888888", "labelFontSize": 11, "titleFontSize": 12},
    "legend": {"labelFontSize": 11, "titleFontSize": 12},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
}


def svg(chart: alt.TopLevelMixin) -> str:
    """The chart as SVG text, in the house style."""
    return str(vl_convert.vegalite_to_svg(_specification(chart)))


def png(chart: alt.TopLevelMixin) -> bytes:
    """The chart as a PNG picture of twice its size in pixels, in the house style."""
    return bytes(vl_convert.vegalite_to_png(_specification(chart), scale=2))


def save(chart: alt.TopLevelMixin, path: Path) -> None:
    """Write the chart to a `.svg` or `.png` file, in the house style.

    Raises:
        ValueError: for another ending.
    """
    if path.suffix == ".svg":
        path.write_text(svg(chart), encoding="utf-8")
    elif path.suffix == ".png":
        path.write_bytes(png(chart))
    else:
        raise ValueError(f"{path.name} is neither .svg nor .png")


def _specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    specification: dict[str, Any] = chart.to_dict()
    return specification | {"config": _CONFIG | specification.get("config", {})}
