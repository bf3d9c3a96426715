"""Settings of the server that Streamlit does not pass on: its sockets, and stopping in time on SIGTERM or Ctrl-C.

uvicorn takes no more connections, sends pages away and waits for the requests under way; the exchange of a grade is
one of them. After a few seconds it is told to wait no longer: a slow download must not keep a machine from going down.
Then the app's own processes end (see `processes.end_all`), and the process leaves with 0.
"""

import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

from backend.core import processes
from backend.core.server_options import READY_VARIABLE

_LOG = logging.getLogger(__name__)
_BEGUN = threading.Event()
GRACE_S = 5
"""Seconds for requests under way. systemd kills after 90 s, a container engine after 10."""
LAST_S = 8.0
"""Seconds after the signal the process is gone, whatever a thread waits for: a transaction cut off leaves nothing."""


def leave(_number: int, _frame: FrameType | None) -> None:
    """End the process with 0: what a signal does before the server runs, and after it has stopped.

    Before, it ends at once: an exception amid an import can leave a lock for which the interpreter waits forever.
    """
    if not _BEGUN.is_set():
        say_stopped()
        os._exit(0)
    raise SystemExit(0)


def say_stopped() -> None:
    """Tell the person whom the server greets, or would have greeted, that it has ended."""
    if os.environ.get(READY_VARIABLE):
        with suppress(OSError):  # the terminal has gone
            sys.stdout.write("\nStopped.\n")
            sys.stdout.flush()


def leave_in_time() -> None:
    """Called when the server has begun, in its main thread: from now on a signal is answered within `LAST_S`."""
    _BEGUN.set()
    if threading.current_thread() is not threading.main_thread():
        return
    settings = server_settings()
    if settings is None:
        return
    settings.timeout_graceful_shutdown = GRACE_S
    for number in processes.END_SIGNALS:
        its_own = signal.getsignal(number)
        if callable(its_own):
            signal.signal(number, partial(_answer, its_own))


def server_settings() -> Any:
    """Return uvicorn's settings, some of which Streamlit does not pass on; None where no uvicorn runs."""
    handler = signal.getsignal(processes.END_SIGNALS[0])
    return getattr(getattr(handler, "__self__", None), "config", None)


def _answer(its_own: Callable[[int, FrameType | None], Any], number: int, frame: FrameType | None) -> None:
    """What the server does itself, and a clock."""
    its_own(number, frame)
    clock = threading.Timer(LAST_S, _leave_now)
    clock.daemon = True
    clock.start()


def _leave_now() -> None:
    _LOG.warning("the server did not end by itself within %.0f s", LAST_S)
    processes.end_all(patience_s=0)
    os._exit(0)


def answer_at_once() -> None:
    """Never hold a small answer back until its headers are acknowledged: that costs 40 ms on a kept connection.

    asyncio sees to it only for sockets made with the number of their protocol, and Streamlit makes its own without.
    What listens passes the option on to every connection it accepts.
    """
    for name in os.listdir("/dev/fd"):
        try:
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as found:
                is_inet = found.family in (socket.AF_INET, socket.AF_INET6)
                if is_inet and found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            continue  # closed since it was listed


def limit_messages(most_bytes: int) -> None:
    """Close a websocket on a message of more than `most_bytes` before the rest of it is read.

    Streamlit's setting for this, `server.maxMessageSize`, bounds what the server sends too.
    """
    if (settings := server_settings()) is not None:
        settings.ws_max_size = most_bytes
