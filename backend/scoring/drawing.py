"""Draw Vega-Lite specifications as SVG or PNG in one common style, with vl-convert."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import vl_convert

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000", "#8c564b", "#bcbd22"]
"""Okabe and Ito's colours come first: colour-blind readers can tell them apart, on white and in print."""

Specification = dict[str, Any]
"""A Vega-Lite chart, or a part of one."""

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
_FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
_CONFIG: dict[str, Any] = {
    "background": "white",
    "font": _FONT,
    "range": {"category": PALETTE},
    "axis": {"grid": True, "gridColor": "#e6e6e6", "domainColor": "#888888", "labelFontSize": 11, "titleFontSize": 12},
    "legend": {"labelFontSize": 11, "titleFontSize": 12},
    "header": {"labelFontSize": 12, "titleFontSize": 12},
}
_TYPES = {"N": "nominal", "O": "ordinal", "Q": "quantitative"}


def channel(shorthand: str, **properties: Any) -> Specification:
    """Return a Vega-Lite encoding channel from `FIELD:TYPE`; TYPE is N (nominal), O (ordinal) or Q (quantitative).

    `properties` are added to the channel as they are.

    >>> channel("value:Q", title=None)
    {'field': 'value', 'type': 'quantitative', 'title': None}
    """
    field, _, kind = shorthand.rpartition(":")
    return {"field": field, "type": _TYPES[kind], **properties}


def heading(text: str, subtitle: Sequence[str]) -> Specification:
    """Return the Vega-Lite title of a figure, with a subtitle of one or more lines."""
    return {"text": text, "subtitle": subtitle, "anchor": "start", "offset": 12, "fontSize": 15}


def svg(chart: Mapping[str, Any]) -> str:
    """Return the chart as SVG text, in the common style."""
    return str(vl_convert.vegalite_to_svg(_styled(chart)))


def png(chart: Mapping[str, Any]) -> bytes:
    """Return the chart as a PNG picture at twice its size in pixels, in the common style."""
    return bytes(vl_convert.vegalite_to_png(_styled(chart), scale=2))


def save(chart: Mapping[str, Any], path: Path) -> None:
    """Write the chart to a `.svg` or `.png` file, in the common style.

    Raises:
        ValueError: the file has another ending.
    """
    if path.suffix == ".svg":
        path.write_text(svg(chart), encoding="utf-8")
    elif path.suffix == ".png":
        path.write_bytes(png(chart))
    else:
        raise ValueError(f"{path.name} is neither .svg nor .png")


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart that notebooks display. `specification` is its Vega-Lite description, which Altair can read too."""

    title: str
    specification: Specification

    @property
    def svg(self) -> str:
        """The chart as SVG text."""
        return svg(self.specification)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart to a `.svg` or `.png` file.

        Raises:
            ValueError: the file has another ending.
        """
        save(self.specification, Path(path))

    def _repr_svg_(self) -> str:
        """Return the chart as SVG text, for notebooks to display."""
        return self.svg

    def __repr__(self) -> str:
        return f"Chart: {self.title}. A notebook shows it; .save('chart.svg') writes it, .svg is its text."


def _styled(chart: Mapping[str, Any]) -> Specification:
    return {"$schema": _SCHEMA, **chart, "config": _CONFIG | chart.get("config", {})}
