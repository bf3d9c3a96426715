"""Text of people and of files, ready to stand inside Streamlit's Markdown: labels and messages are Markdown too."""

import re

_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
# Streamlit looks for these in the finished text, where a backslash is gone: names of emoji and icons, addresses, and
# arrows and signs of comparison, which it would print as one character. An empty `:small[]` between two of their
# characters shows nothing, and ends what it looks at.
_SEAM = re.compile(
    r"(?<=:)(?=[/\w+-])|(?<=@)|(?<=www)(?=\.)|(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)", re.IGNORECASE
)


def plain(text: str) -> str:
    """Markdown that shows a text sign by sign, each of its lines as a line.

    What a browser folds in any case, a run of white space, is one space.
    """
    return "  \n".join(_line(" ".join(line.split())) for line in text.splitlines())


def _line(line: str) -> str:
    return ":small[]".join(_SIGN.sub(r"\\\g<0>", part) for part in _SEAM.split(line))


def component_key(text: str) -> str:
    """A key for a component of our own: Streamlit refuses two low lines in a row, and one pair's key in 250 has them.

    >>> component_key("clip-a__b___c")
    'clip-a_.b_._c'
    """
    return text.replace("__", "_.")
