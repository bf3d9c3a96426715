"""The evaluation report as one HTML file: template, style and script travel inside, nothing is fetched.

Everything that comes from files is text: the template escapes it. Only our own style, script and charts are markup.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from backend.scoring.drawing import svg

_FOLDER = Path(__file__).parent
_PIECES = re.compile(r"\s+|[^\s_./=,:|+@-]{1,16}[_./=,:|+@-]*|[_./=,:|+@-]+")
"""Of a name: what stands between the signs that part names, with the signs after it."""


def render(context: Mapping[str, Any]) -> str:
    """The page of what `backend.scoring.report.report` found; a value that the template lacks is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    style, script = (
        Markup((_FOLDER / name).read_text(encoding="utf-8"))  # our own files
        for name in ("report.css", "report.js")
    )
    environment.filters["breakable"] = breakable
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("page.html.jinja")
    return page.render(context, css=style, script=script, script_hash=f"sha256-{digest}")


def inline(chart: Mapping[str, Any]) -> Markup:
    """A chart as SVG markup; the renderer has escaped what is in it."""
    return Markup(svg(chart))


def breakable(text: object) -> Markup:
    """Text that may be broken after what parts a name, such as `_`, and within a piece only where that is very long.

    >>> print(breakable("a<b_seed2018"))
    a&lt;b_<wbr>seed2018
    """
    pieces = _PIECES.findall(str(text))
    return Markup("").join(
        Markup("{}<wbr>").format(piece) if not (piece.isspace() or following.isspace()) else piece
        for piece, following in pairwise([*pieces, " "])
    )
