"""Serve connections that the process at the port accepted and handed over; see `supervisor.py`.

A connection arrives as a file descriptor with the bytes that were read of it. From then on it belongs to this process,
so the server sees the client's own address and every byte that the client sent.
"""

import asyncio
import os
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn import Server

from annotate_app.front.routing import HOME_COOKIE, home_of
from annotate_app.session.addresses import set_cookie
from backend.core.server_options import HANDOVER_VARIABLE

MOST_BYTES = 256 * 1024
"""More than one message has: the longest head that is read, and one more piece."""
_FORWARDED = ("x-forwarded-for", "x-forwarded-proto", "forwarded", "via")
_CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Handover:
    """What this process was started with: the socket over which connections come, and its number from 0 on.

    With `keeps`, a connection may stay open for more requests; otherwise each request is routed anew.
    """

    control: socket.socket
    number: int
    keeps: bool

    def begin(self, server: Server) -> None:
        """Let a server serve the connections that come once it has started, until the process at the port ends."""
        _keep(asyncio.ensure_future(self._begin(server)))

    async def _begin(self, server: Server) -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        for listening in server.servers:
            listening.close()  # Streamlit needs an address of its own, which nobody is to reach
        asyncio.get_running_loop().add_reader(self.control, self._receive, server)
        self.control.send(b"ready")

    def stop(self) -> None:
        """Take no more connections. Those that were sent before are still served."""
        with suppress(OSError):
            self.control.shutdown(socket.SHUT_RD)

    def _receive(self, server: Server) -> None:
        try:
            head, handles, _, _ = socket.recv_fds(self.control, MOST_BYTES, 1)
        except BlockingIOError:
            return
        except OSError:
            head, handles = b"", []
        for handle in handles:
            _adopt(server, socket.socket(fileno=handle), head)
        if not handles:  # the process at the port has ended, or `stop` was called
            asyncio.get_running_loop().remove_reader(self.control)
            self.control.close()
            if not server.should_exit:
                os.kill(os.getpid(), signal.SIGTERM)


_TASKS: set[asyncio.Future[Any]] = set()


def _keep(task: asyncio.Future[Any]) -> None:
    """Keep a task alive until it ends, which the event loop does not."""
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


def _adopt(server: Server, connection: socket.socket, head: bytes) -> None:
    """Serve a connection of which `head` was read already; it is not empty, which would mean its end."""
    connection.setblocking(False)

    def protocol() -> asyncio.Protocol:
        made: asyncio.Protocol = server.config.http_protocol_class(  # type: ignore[call-arg]
            config=server.config, server_state=server.server_state, app_state=server.lifespan.state
        )
        begin = made.connection_made

        def connection_made(transport: asyncio.BaseTransport) -> None:
            begin(transport)
            made.data_received(head)  # before the loop can read what came after it

        made.connection_made = connection_made  # type: ignore[method-assign]
        return made

    _keep(asyncio.ensure_future(asyncio.get_running_loop().connect_accepted_socket(protocol, connection)))


def from_environment() -> Handover | None:
    """Return what the environment says, once; None if this process has a port of its own."""
    handle, _, rest = os.environ.pop(HANDOVER_VARIABLE, "").partition(" ")
    if not handle:
        return None
    number, _, keeps = rest.partition(" ")
    os.set_inheritable(int(handle), False)
    control = socket.socket(fileno=int(handle))
    control.setblocking(False)
    return Handover(control, int(number), keeps == "1")


class HomeProcess:
    """ASGI middleware that keeps each browser at this process, by a cookie with the number of the process.

    A connection stays open only while its browser belongs here. A proxy may send other browsers' requests over the same
    connection, so those connections close after each answer, and the next request is routed anew.
    """

    def __init__(self, app: ASGIApp, handover: Handover) -> None:
        self._app = app
        self._number, self._keeps = handover.number, handover.keeps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; set the cookie and close the connection with its answer where needed."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        lives_here = home_of(";".join(headers.getlist("cookie")).encode("latin-1")) == self._number
        closes = not (lives_here and self._keeps) or any(name in headers for name in _FORWARDED)

        async def sender(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message.setdefault("headers", [])
                answer = MutableHeaders(scope=message)
                if not lives_here and "max-age" not in answer.get("cache-control", ""):  # caches would hand it on
                    cookies = Response()
                    number = str(self._number)
                    set_cookie(HTTPConnection(scope), cookies, HOME_COOKIE, number, max_age_s=None, strict=False)
                    answer.append("set-cookie", cookies.headers["set-cookie"])
                if closes and message["type"] == "http.response.start":
                    answer["connection"] = _CLOSE
            await send(message)

        await self._app(scope, receive, sender)
