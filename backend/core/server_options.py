"""What the command line tells a server through its environment: base path, log and metrics address."""

import re
from enum import StrEnum

LOG_VARIABLE = "REELRANK_LOG"
"""The environment variable that tells a server its `LogForm`."""

READY_VARIABLE = "REELRANK_READY"
"""The environment variable that tells a server what to print for a person once it answers; unset, it prints nothing."""

FIRST_LINK_VARIABLE = "REELRANK_FIRST_LINK"
"""The environment variable that tells a server over an empty folder how its project is made: the address at which the
server listens, and in a second line the one-time link."""


class LogForm(StrEnum):
    """The forms of a log."""

    TEXT = "text"
    """A line for a person."""
    JSON = "json"
    """An object a line, for programs."""


METRICS_VARIABLE = "REELRANK_METRICS"
"""The environment variable that tells a server the address; an empty one turns counting off."""


def place_of(address: str) -> tuple[str, int]:
    """Host and port of an address without a scheme.

    Raises:
        ValueError: it is none.

    >>> place_of("127.0.0.1:9108"), place_of("[::1]:9108")
    (('127.0.0.1', 9108), ('::1', 9108))
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not (port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError(f"{address} is not an address: write HOST:PORT, such as 127.0.0.1:9108")
    return host.removeprefix("[").removesuffix("]"), int(port)


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
        raise ValueError(
            f"{text!r} is not a base path: use letters, digits and . _ ~ - after a slash, such as /annotate"
        )
    return text.rstrip("/")
