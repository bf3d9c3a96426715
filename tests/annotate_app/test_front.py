"""Connections that one process accepts and another serves: real sockets, a real server, no campaign."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from annotate_app.front import routing
from annotate_app.front.handover import Handover, HomeProcess
from annotate_app.front.supervisor import Service, Supervisor

READY = st.lists(st.integers(0, 63), min_size=1, max_size=8, unique=True).map(sorted)


@given(ready=READY, home=st.integers(0, 63), turn=st.integers(0, 1000), token=st.text("abc09", max_size=8))
def test_a_browser_stays_where_it_is_and_moves_to_one_place(ready: list[int], home: int, turn: int, token: str) -> None:
    cookies = f"reelrank_session={token}; reelrank_process={home}".encode()
    first = routing.chosen(ready, cookies, turn)
    assert first in ready
    assert (first == home) == (home in ready)
    assert routing.chosen(ready, cookies, turn + 1) == first, "whatever came between"


@given(ready=READY)
def test_newcomers_are_spread_evenly(ready: list[int]) -> None:
    assert sorted(routing.chosen(ready, b"", turn) for turn in range(len(ready))) == ready


@pytest.mark.parametrize(
    ("cookies", "home"),
    [
        ("reelrank_process=3", 3),
        ("a=1; __Secure-reelrank_process=12; b=2", 12),
        ("reelrank_process=", None),
        ("reelrank_process=-1", None),
        ("reelrank_process=1x", None),
        ("reelrank_process=123456789", None),
        ("x-reelrank_process=1", None),
        ("a=reelrank_process=1", None),
    ],
)
def test_a_home_is_a_number_in_a_cookie_of_this_name(cookies: str, home: int | None) -> None:
    head = f"GET / HTTP/1.1\r\nX-Cookie: reelrank_process=9\r\nCOOKIE: {cookies}\r\n\r\nCookie: reelrank_process=8"
    assert routing.home_of(routing.cookies_of(head.encode())) == home


async def who(request: Request) -> Response:
    """What the server knows of the client, and how much it sent."""
    assert request.client is not None
    length = sum([len(piece) async for piece in request.stream()])
    return JSONResponse({"client": list(request.client), "length": length, "path": request.url.path})


async def kept(_request: Request) -> Response:
    return PlainTextResponse("a style sheet", headers={"Cache-Control": "max-age=3600"})


class Front:
    """A port in this process, with one server behind it in this process too."""

    def __init__(self, keeps: bool) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs.setblocking(False)
        self._handover = Handover(theirs, 1, keeps)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.setblocking(False)
        self.address = self._listening.getsockname()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        assert self._ready.wait(60)

    async def _run(self) -> None:
        app = HomeProcess(
            Starlette(routes=[Route("/kept", kept), Route("/{path:path}", who, methods=["GET", "POST"])]),
            self._handover,
        )
        self._server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
        service = Service("", [], [], keeps=True, controls={1: self._control})
        front = Supervisor(self._listening, [service], lambda: None)
        accepting = asyncio.create_task(front.accept())
        self._handover.begin(self._server)
        asyncio.get_running_loop().call_soon(self._ready.set)
        await self._server._serve([])
        accepting.cancel()

    def stop(self) -> None:
        """No test needs it any more."""
        self._server.should_exit = True
        self._thread.join()
        self._control.close()
        self._listening.close()


@pytest.fixture
def front(request: pytest.FixtureRequest) -> Iterator[Front]:
    made = Front(getattr(request, "param", True))
    yield made
    made.stop()


def answers(connection: socket.socket, count: int) -> list[bytes]:
    """So many answers that come over a connection, each with its head; an empty one stands for its end."""
    with connection.makefile("rb") as stream:
        found = []
        for _ in range(count):
            head = b""
            while not head.endswith(b"\r\n\r\n") and (line := stream.readline()):
                head += line
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0] or 0)
            found.append(head + stream.read(length))
        return found


def get(path: str = "/", *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


HOME = "Cookie: reelrank_process=1"


def test_the_server_sees_the_client_and_all_that_it_sends(front: Front) -> None:
    body = bytes(3_000_000)
    with socket.create_connection(front.address, timeout=30) as client:
        request = f"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for byte in request[:20]:
            client.sendall(bytes([byte]))  # the head comes in pieces
        client.sendall(request[20:] + body)
        (answer,) = answers(client, 1)
        host, port = client.getsockname()
    told = content(answer)
    assert told == {"client": [host, port], "length": len(body), "path": "/a"}


def content(answer: bytes) -> Any:
    """The JSON of an answer."""
    return json.loads(answer.partition(b"\r\n\r\n")[2])


def test_a_connection_stays_open_for_its_own_browser_only(front: Front) -> None:
    with socket.create_connection(front.address, timeout=30) as client:
        client.sendall(get("/1", HOME) + get("/2", HOME) + get("/3"))  # the third one is somebody else's, it seems
        one, two, three, end = answers(client, 4)
    assert [content(answer)["path"] for answer in (one, two, three)] == ["/1", "/2", "/3"]
    assert [b"set-cookie" in answer for answer in (one, two, three)] == [False, False, True]
    assert [b"connection: close" in answer for answer in (one, two, three)] == [False, False, True]
    assert end == b""


@pytest.mark.parametrize("header", ["X-Forwarded-For: 192.0.2.1", "Via: 1.1 proxy", "Forwarded: for=192.0.2.1"])
def test_a_connection_of_a_proxy_closes_after_each_answer(front: Front, header: str) -> None:
    with socket.create_connection(front.address, timeout=30) as client:
        client.sendall(get("/1", HOME, header) + get("/2", HOME, header))
        one, end = answers(client, 2)
    assert content(one)["path"] == "/1"
    assert end == b""


@pytest.mark.parametrize("front", [False], indirect=True)
def test_no_connection_stays_open_where_the_path_chooses(front: Front) -> None:
    with socket.create_connection(front.address, timeout=30) as client:
        client.sendall(get("/films/1", HOME) + get("/news/2", HOME))
        one, end = answers(client, 2)
    assert content(one)["path"] == "/films/1"
    assert end == b""


def test_what_a_cache_keeps_has_no_cookie(front: Front) -> None:
    with socket.create_connection(front.address, timeout=30) as client:
        client.sendall(get("/kept"))
        (answer,) = answers(client, 1)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"set-cookie" not in answer


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01 a greeting of TLS", b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: " + b"a" * 70_000]
)
def test_what_is_no_request_is_refused_by_the_server(front: Front, sent: bytes) -> None:
    with socket.create_connection(front.address, timeout=30) as client:
        client.sendall(sent)
        assert client.recv(100).startswith(b"HTTP/1.1 400")


def test_who_says_nothing_is_in_nobodys_way(front: Front) -> None:
    silent = [socket.create_connection(front.address) for _ in range(20)]
    with socket.create_connection(front.address, timeout=30) as client:
        client.sendall(get("/1"))
        assert answers(client, 1)[0].startswith(b"HTTP/1.1 200")
    for one in silent:
        one.close()
