"""Which texts of people and files every database keeps."""

import re

# In JSON the backslash before it must be no escaped backslash.
_NUL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def is_storable(text: str) -> bool:
    r"""Whether every database keeps it: no NUL, which PostgreSQL refuses, and no half of a surrogate pair.

    >>> is_storable("née"), is_storable("a\0b"), is_storable("\ud800")
    (True, False, False)
    """
    if "\0" in text:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def has_nul_escape(json: str | bytes) -> bool:
    r"""Whether JSON has NUL in one of its texts, which it writes as an escape.

    >>> has_nul_escape('["a\\u0000"]'), has_nul_escape('["a\\\\u0000"]')
    (True, False)
    """
    raw = json.encode("utf-8", "surrogatepass") if isinstance(json, str) else json
    return b"\\u0000" in raw and bool(_NUL_IN_JSON.search(raw))
