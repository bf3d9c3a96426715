"""Settings of the server's sockets that nobody else sets: no delay of answers, and a bound on messages."""

import os
import socket
import stat

from annotate_app.server import stopping
from annotate_app.session.websocket_limits import LARGEST_MESSAGE_BYTES


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


def limit_messages() -> None:
    """Close a websocket on a message beyond `LARGEST_MESSAGE_BYTES` before the rest of it is read.

    Streamlit's setting for this, `server.maxMessageSize`, bounds what the server sends too.
    """
    if (settings := stopping.server_settings()) is not None:
        settings.ws_max_size = LARGEST_MESSAGE_BYTES
