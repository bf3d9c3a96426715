"""What a person reads on a page that Streamlit drew for a test. That a browser shows it so, browser tests say."""

import json
import re

from streamlit.testing.v1 import AppTest

KINDS = ("title", "header", "markdown", "caption", "info", "warning", "error", "success", "text")


def read(markdown: str) -> str:
    """The text without the signs that keep its other signs from taking effect: see `annotate_app.plain`."""
    return re.sub(r"\\([!-/:-@\[-`{-~])|:small\[\]", r"\1", markdown)


def html(app: AppTest) -> str:
    """Return the HTML of a page, as it was written."""
    return "\n".join(element.proto.body for element in app.get("html"))


def mounted(app: AppTest, what: str = "") -> str:
    """Return the HTML that a component of ours was given, the first one with this in it; empty where there is none."""
    given = (json.loads(one.proto.json).get("html", "") for one in app.get("bidi_component") if one.proto.json)
    return next((text for text in given if what in text), "")


def words(app: AppTest) -> str:
    """Return everything that a page says: texts, headings of what unfolds, and its HTML."""
    written = [str(element.value) for kind in KINDS for element in app.get(kind)]
    return read("\n".join([*written, *(expander.label for expander in app.expander), html(app)]))
