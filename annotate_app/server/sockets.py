"""Answers that do not wait: an option of the server's listening socket that nobody else sets."""

import os
import socket
import stat


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
