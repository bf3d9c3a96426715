"""What a person reads of Markdown that `annotate_app.plain` made. That a browser shows it so, browser tests say."""

import re


def read(markdown: str) -> str:
    """The text without the signs that keep its other signs from taking effect."""
    return re.sub(r"\\([!-/:-@\[-`{-~])|:small\[\]", r"\1", markdown)
