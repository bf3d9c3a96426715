"""How texts of people and files are written: one form of equal names, no control characters, something to see."""

import re
import unicodedata

# In JSON the backslash before it must be no escaped backslash.
_NUL_IN_JSON = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def nfc(text: str) -> str:
    r"""Return the text in Unicode's composed form (NFC), so that names that are canonically equal are one string.

    Names of videos, queries and people are kept and compared in this form. macOS hands out file names decomposed.

    >>> nfc("cafe\u0301") == "caf\u00e9"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def normalised_password(password: str) -> str:
    r"""Return a password in the form that is hashed, NFKC (NIST SP 800-63B): keyboards send one letter in many forms.

    >>> normalised_password("de\u0301ja\u00a0vu") == "d\u00e9ja vu"
    True
    """
    return unicodedata.normalize("NFKC", password)


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
