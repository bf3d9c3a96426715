"""The evaluation report as one HTML file: template, style and script travel inside, nothing is fetched.

Everything that comes from files is text: the template escapes it. Only our own style, script and charts are markup.
"""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import jinja2
from markupsafe import Markup

from backend.scoring.drawing import svg

_FOLDER = Path(__file__).parent


def render(context: Mapping[str, Any]) -> str:
    """The page of what `backend.scoring.report.report` found; a value that the template lacks is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    style, script = (
        Markup((_FOLDER / name).read_text(encoding="utf-8"))  # our own files
        for name in ("report.css", "report.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("page.html.jinja")
    return page.render(context, css=style, script=script, script_hash=f"sha256-{digest}")


def inline(chart: alt.TopLevelMixin) -> Markup:
    """A chart as SVG markup; the renderer has escaped what is in it."""
    return Markup(svg(chart))
