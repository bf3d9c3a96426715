"""Make text of people and files safe to show: in Streamlit's Markdown, which labels are too, and beside other text."""

import re
from hashlib import blake2b
from unicodedata import bidirectional

_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
# Streamlit looks for these in the finished text, where a backslash is gone: names of emoji and icons, addresses, and
# arrows and signs of comparison, which it would print as one character. An empty `:small[]` between two of their
# characters shows nothing, and ends what it looks at.
_SEAM = re.compile(
    r"(?<=:)(?=[/\w+-])|(?<=@)|(?<=www)(?=\.)|(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)", re.IGNORECASE
)
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN", "RLE", "RLO", "RLI"})


def isolated(text: str) -> str:
    """Keep the direction of a text to itself, so that a Hebrew name does not reverse the sentence it stands in.

    Text without any sign that is written from right to left stays as it is.

    >>> isolated("Ana"), isolated("\u05d3\u05e0\u05d4")
    ('Ana', '\u2068\u05d3\u05e0\u05d4\u2069')
    """
    if text.isascii() or not any(bidirectional(sign) in _RIGHT_TO_LEFT for sign in text):
        return text
    return f"\u2068{text}\u2069"


def plain(text: str) -> str:
    """Markdown that shows a text sign by sign, each of its lines as a line.

    What a browser folds in any case, a run of white space, is one space.
    """
    return "  \n".join(_line(" ".join(line.split())) for line in text.splitlines())


def _line(line: str) -> str:
    return ":small[]".join(_SIGN.sub(r"\\\g<0>", part) for part in _SEAM.split(isolated(line)))


def component_key(text: str) -> str:
    """A key for a component of our own that is of this text alone, whatever signs it has: Streamlit refuses some.

    >>> component_key("clip-a__b")
    'own-0c975f3dffe05789'
    """
    return f"own-{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
