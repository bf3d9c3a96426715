"""Escape text that users or files provide, so that Streamlit shows it literally in Markdown and labels."""

import re
from hashlib import blake2b
from unicodedata import bidirectional

_SIGN = re.compile(r"[!-/:-@\[-`{-~]")
# Streamlit replaces these after Markdown has removed backslashes: names of emoji and icons, addresses, arrows and
# comparison signs. An empty `:small[]` between two of their characters is invisible and prevents the replacement.
_SEAM = re.compile(
    r"(?<=:)(?=[/\w+-])|(?<=@)|(?<=www)(?=\.)|(?<=-)(?=[->])|(?<=<)(?=[-=])|(?<=[>~])(?==)", re.IGNORECASE
)
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN", "RLE", "RLO", "RLI"})


def isolated(text: str) -> str:
    """Isolate the writing direction of a text, so that a Hebrew name does not reverse the sentence around it.

    A text without right-to-left characters is returned unchanged.

    >>> isolated("Ana"), isolated("\u05d3\u05e0\u05d4")
    ('Ana', '\u2068\u05d3\u05e0\u05d4\u2069')
    """
    if text.isascii() or not any(bidirectional(sign) in _RIGHT_TO_LEFT for sign in text):
        return text
    return f"\u2068{text}\u2069"


def plain(text: str) -> str:
    """Return Markdown that shows a text literally and keeps its line breaks.

    Several white-space characters in a row become one space, as browsers show them.
    """
    return "  \n".join(_line(" ".join(line.split())) for line in text.splitlines())


def _line(line: str) -> str:
    return ":small[]".join(_SIGN.sub(r"\\\g<0>", part) for part in _SEAM.split(isolated(line)))


def component_key(text: str) -> str:
    """Return a key for a Streamlit component, different for each text. Streamlit rejects keys with certain characters.

    >>> component_key("clip-a__b")
    'own-0c975f3dffe05789'
    """
    return f"own-{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"
