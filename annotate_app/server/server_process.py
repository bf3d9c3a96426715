"""Control the server process where Streamlit does not: sockets, and a timely stop on SIGTERM or Ctrl-C.

On a signal, uvicorn accepts no more connections, closes websockets and waits for requests under way, such as one that
saves a grade. After `GRACE_S` it stops waiting: a slow download must not delay a machine's shutdown. Then the app's own
processes end (see `processes.end_all`), and the process exits with 0.
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
from backend.core.text_files import visible

_LOG = logging.getLogger(__name__)
_BEGUN = threading.Event()
GRACE_S = 5
"""Seconds that requests under way get to finish. systemd kills after 90 s, a container engine after 10."""
LAST_S = 8.0
"""Seconds from the signal to the forced end of the process. An interrupted transaction leaves nothing behind."""


def leave(_number: int, _frame: FrameType | None) -> None:
    """End the process with exit code 0; used as signal handler while the server is not running.

    If the server has not started yet, the process ends at once. An exception in the middle of an import could leave a
    lock that the interpreter waits for forever.
    """
    if not _BEGUN.is_set():
        print_stopped()
        os._exit(0)
    raise SystemExit(0)


def print_started(ready: str, first_link: str) -> None:
    """Print that the server answers requests, and the one-time link if it is to create its project.

    `ready` is the text to print, and `first_link` the link; "" for none.
    """
    if ready:
        sys.stdout.write(f"{visible(ready)}\n")
    if first_link:
        sys.stdout.write(f"\nThere is no project yet. Create it with this link, which works once:\n{first_link}\n")
    sys.stdout.flush()


def print_stopped() -> None:
    """Print that the server has stopped; print nothing if `REELRANK_READY` is empty, as then no start was printed."""
    if os.environ.get(READY_VARIABLE):
        with suppress(OSError):  # the terminal has gone
            sys.stdout.write("\nStopped.\n")
            sys.stdout.flush()


def limit_shutdown_time(first: Callable[[], object] = lambda: None) -> None:
    """Make signals end the process within `LAST_S` seconds; call it in the main thread once the server has started.

    `first` is called when a signal comes, before the server begins to end. It must not wait.
    """
    _BEGUN.set()
    if threading.current_thread() is not threading.main_thread():
        return
    server = running_server()
    if server is None:
        return
    server.config.timeout_graceful_shutdown = GRACE_S
    for number in processes.END_SIGNALS:
        server_handler = signal.getsignal(number)
        if callable(server_handler):
            signal.signal(number, partial(_answer, first, server_handler))


def running_server() -> Any:
    """Return the running uvicorn server, before `limit_shutdown_time` is called; None if no server is running.

    Its settings can be changed: Streamlit does not offer all of them itself.
    """
    server = getattr(signal.getsignal(processes.END_SIGNALS[0]), "__self__", None)
    return server if hasattr(server, "config") else None


def _answer(
    first: Callable[[], object],
    server_handler: Callable[[int, FrameType | None], Any],
    number: int,
    frame: FrameType | None,
) -> None:
    """Handle a signal: run the server's own handler, and start the timer that forces the process to end."""
    first()
    server_handler(number, frame)
    clock = threading.Timer(LAST_S, _leave_now)
    clock.daemon = True
    clock.start()


def _leave_now() -> None:
    _LOG.warning("the server did not end by itself within %.0f s", LAST_S)
    processes.end_all(patience_s=0)
    os._exit(0)


def disable_send_delay() -> None:
    """Set TCP_NODELAY on the listening sockets; accepted connections inherit it.

    Otherwise a small response waits until its headers are acknowledged, which costs 40 ms on a kept-alive connection.
    asyncio sets the option only on sockets created with a protocol number, and Streamlit creates its own without one.
    """
    for name in os.listdir("/dev/fd"):
        try:
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as listener:
                is_inet = listener.family in (socket.AF_INET, socket.AF_INET6)
                if is_inet and listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            continue  # closed since it was listed


def limit_messages(most_bytes: int) -> None:
    """Make the server close a websocket on a message of more than `most_bytes`, before reading the rest of it.

    Streamlit's setting for this, `server.maxMessageSize`, limits the messages that the server sends too.
    """
    if (server := running_server()) is not None:
        server.config.ws_max_size = most_bytes
