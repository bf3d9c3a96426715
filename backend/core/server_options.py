"""Options that the command line passes to a server through environment variables, such as base path and log form."""

import re
from enum import StrEnum

LOG_VARIABLE = "REELRANK_LOG"
"""The environment variable with the server's `LogForm`."""

READY_VARIABLE = "REELRANK_READY"
"""The environment variable with the text that a server prints once it answers; if unset, it prints nothing."""

FIRST_LINK_VARIABLE = "REELRANK_FIRST_LINK"
"""The environment variable that a server without a project needs to make one.

The first line is the address at which the server listens, the second line the one-time link."""

HANDOVER_VARIABLE = "REELRANK_HANDOVER"
"""The environment variable of one of several processes behind a port.

Its value is three numbers with spaces between them: the file descriptor of the socket over which connections are handed
to this process, the number of the process from 0, and 1 if connections may stay open, else 0."""


class LogForm(StrEnum):
    """The format of a log."""

    TEXT = "text"
    """Lines for people."""
    JSON = "json"
    """One JSON object a line, for programs."""


METRICS_VARIABLE = "REELRANK_METRICS"
"""The environment variable with the address for metrics; if it is empty, the server counts nothing."""


def place_of(address: str) -> tuple[str, int]:
    """Return the host and the port of an address without a scheme.

    Raises:
        ValueError: the text is no such address.

    >>> place_of("127.0.0.1:9108"), place_of("[::1]:9108")
    (('127.0.0.1', 9108), ('::1', 9108))
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or not (port.isdecimal() and 0 < int(port) < 65536):
        raise ValueError(f"{address} is not an address: write HOST:PORT, such as 127.0.0.1:9108")
    return host.removeprefix("[").removesuffix("]"), int(port)


ENTRANCE_PATH = "/campaigns"
"""The path of the page where people sign in to all campaigns that one server has. No campaign may have it."""


def nth_place(address: str, number: int) -> str:
    """Return the address of process `number`, from 0 on: the given one with a port that is so much higher.

    >>> nth_place("127.0.0.1:9108", 0), nth_place("[::1]:9108", 2), nth_place("", 2)
    ('127.0.0.1:9108', '[::1]:9110', '')
    """
    host, _, port = address.rpartition(":")
    return f"{host}:{int(port) + number}" if address and number else address


BASE_PATH_VARIABLE = "REELRANK_BASE_PATH"
"""The environment variable with the server's base path."""
_SEGMENTS = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*/?")


def checked_base_path(text: str) -> str:
    """Return the path below which a server has its pages, without the slash at its end; "" for the root of the host.

    Raises:
        ValueError: `text` is no path, or has characters that have to be escaped in an address.

    >>> checked_base_path("/annotate/"), checked_base_path("/lab/annotate"), checked_base_path("/")
    ('/annotate', '/lab/annotate', '')
    """
    if not _SEGMENTS.fullmatch(text):
        raise ValueError(
            f"{text!r} is not a base path: use letters, digits and . _ ~ - after a slash, such as /annotate"
        )
    return text.rstrip("/")
