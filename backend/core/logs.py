"""How a server says what it has to say, as the command line asks for it and the front end does it."""

from enum import StrEnum

LOG_VARIABLE = "REELRANK_LOG"
"""The environment variable that tells a server its `LogForm`."""

READY_VARIABLE = "REELRANK_READY"
"""The environment variable that tells a server what to print for a person once it answers; unset, it prints nothing."""


class LogForm(StrEnum):
    """The forms of a log."""

    TEXT = "text"
    """A line for a person."""
    JSON = "json"
    """An object a line, for programs."""
