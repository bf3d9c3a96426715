"""Text of people and of files, ready to stand inside Streamlit's Markdown: labels and messages are Markdown too."""

import re
from hashlib import blake2b

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
    """A key for a component of our own that is of this text alone, whatever signs it has: Streamlit refuses some.

    >>> component_key("clip-a__b")
    'own-0c975f3dffe05789'
    """
    return f"own-{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
