"""The path of its host that a server lies below, as the command line takes it and the front end uses it."""

import re

BASE_PATH_VARIABLE = "REELRANK_BASE_PATH"
"""The environment variable that tells a server its base path."""
_SEGMENTS = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*/?")


def checked_base_path(text: str) -> str:
    """Return a base path without the slash at its end; an empty text for the whole host.

    Raises:
        ValueError: it is no path, or has characters that need another form in an address.

    >>> checked_base_path("/annotate/"), checked_base_path("/lab/annotate"), checked_base_path("/")
    ('/annotate', '/lab/annotate', '')
    """
    if not _SEGMENTS.fullmatch(text):
        raise ValueError(f"{text!r} is no base path: give one such as /annotate, of letters, digits and . _ ~ -")
    return text.rstrip("/")
