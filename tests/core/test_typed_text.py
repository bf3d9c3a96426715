"""What can be seen of a text, and which control characters no text has; code points by hand from Unicode's charts."""

import pytest

from backend.core.typed_text import is_visible, unwanted_control

INVISIBLE = [
    "",
    " \t\r\n",
    "\u00a0\u2003\u3000",  # spaces
    "\u200b\u200c\u200d\u2060\ufeff",  # zero width
    "\u00ad\u200e\u202a\u2066\u061c\u180e",  # formats
    "\u034f\u115f\u1160\u3164\uffa0",  # joiner and Hangul fillers
    "\ufe0e\ufe0f\U000e0100\u180b\u180f",  # variation selectors
    "\u2800",  # Braille, nothing raised
    "\x07\x1b\x85\u2028\u2029",  # controls and ends of lines
    "\U000e0001\U000e0061",  # tags
]


@pytest.mark.parametrize("text", INVISIBLE, ids=ascii)
def test_nothing_is_to_be_seen(text: str) -> None:
    assert not is_visible(text)
    assert is_visible(f"{text}a")


@pytest.mark.parametrize(
    "text", ["a", ".", "\u2764\ufe0f", "\u2801", "\u3131", "\ud55c", "\u0301", "\U0001faa8"], ids=ascii
)
def test_something_is_to_be_seen(text: str) -> None:
    assert is_visible(text)


def test_which_controls_no_text_has() -> None:
    allowed = {"\t", "\n", "\r", "\x0b", "\x0c"}
    refused = {chr(code) for code in range(0x80) if unwanted_control(chr(code)) is not None}
    assert refused == {chr(code) for code in (*range(0x20), 0x7F)} - allowed
    assert unwanted_control("A dog\x08 runs.\x00") == "\x08"
