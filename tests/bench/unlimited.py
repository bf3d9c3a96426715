"""`reelrank serve` without the limits on websockets and script runs: what the bench compares with.

python unlimited.py serve DIR --port PORT
"""

import os
import sys

import annotate_app.__main__
from annotate_app.session import websocket
from backend import cli
from backend.campaign.nouns import Role

_MANY = 10**9
_NONE = websocket.Limits(pages=_MANY, burst=_MANY, runs_per_s=_MANY, message_bytes=200_000_000, kept_sessions=_MANY)


def _hand_over(_program: str, command: list[str], environment: dict[str, str]) -> None:
    """Go on in this process, where the limits are off, instead of in a fresh Python."""
    os.environ.update(environment)
    sys.argv = command[2:]
    annotate_app.__main__.main()


if __name__ == "__main__":
    websocket.LIMITS.update(dict.fromkeys(Role, _NONE))
    websocket.LARGEST_MESSAGE_BYTES = _NONE.message_bytes
    websocket.SCRIPTS_AT_ONCE = _MANY
    sys.setswitchinterval = lambda _seconds: None
    os.execve = _hand_over  # type: ignore[assignment]
    cli.main()
