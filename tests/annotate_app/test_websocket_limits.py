"""What one user's websockets may cost everybody else: the limits alone, and in the guard."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace

import pytest
from httpx import Response
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from annotate_app.session import websocket
from annotate_app.session.guard import Guard
from annotate_app.session.websocket import LIMITS, ScriptTurns
from backend.campaign.nouns import Role
from backend.core.ids import AnnotatorId
from small_project import SmallProject

ANA, LEA = "Ana", "Lea"
RERUN = BackMsg(rerun_script=ClientState()).SerializeToString()
ALIVE = BackMsg(app_heartbeat=True).SerializeToString()


class Server:
    """The guard in front of a websocket that keeps what it is sent."""

    def __init__(self, client: TestClient, tokens: Mapping[str, str], received: list[bytes]) -> None:
        self.client = client
        self.tokens = tokens
        self.received = received

    def page(self, who: str = ANA) -> WebSocketTestSession:
        return self.client.websocket_connect("/_stcore/stream", headers=self._cookie(who))

    def asks_for_a_page(self, who: str = ANA) -> Response:
        return self.client.get("/grade", headers=self._cookie(who))

    def _cookie(self, who: str) -> dict[str, str]:
        return {"Cookie": f"reelrank_session={self.tokens[who]}"}


@pytest.fixture
def server(real_project: SmallProject) -> Iterator[Server]:
    received: list[bytes] = []

    async def stream(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                received.append(await socket.receive_bytes())
                await socket.send_text("received")
        except WebSocketDisconnect:
            pass

    async def page(_request: object) -> PlainTextResponse:
        return PlainTextResponse("a page")

    app = Starlette(
        routes=[WebSocketRoute("/_stcore/stream", stream), Route("/{path:path}", page)],
        middleware=[Middleware(Guard, project=lambda: real_project.project)],
    )
    with TestClient(app, base_url="http://testserver", follow_redirects=False) as client:
        yield Server(client, real_project.tokens, received)


def test_a_user_has_eight_pages_and_is_told_so_when_asking_for_one_more(server: Server) -> None:
    with ExitStack() as pages:
        for _ in range(7):
            pages.enter_context(server.page())
        assert server.asks_for_a_page().status_code == 200
        with server.page():
            answer = server.asks_for_a_page()
            assert answer.status_code == 429
            assert "You have 8 pages of ReelRank open." in answer.text
            with pytest.raises(WebSocketDisconnect) as refused, server.page():
                pass
            assert (refused.value.code, refused.value.reason) == (1013, "too many pages are open")
            with server.page(LEA):
                assert server.asks_for_a_page(LEA).status_code == 200, "pages of others do not count"
        assert server.asks_for_a_page().status_code == 200
        pages.enter_context(server.page())


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x0a" * (64 * 1024 + 1), 1009),
        (b"no message of Streamlit", 1002),
        ("text", 1003),
    ],
    ids=["too large", "not a message", "text"],
)
def test_a_message_that_no_page_sends_closes_the_page(server: Server, data: bytes | str, code: int) -> None:
    with server.page() as page:
        page.send_bytes(ALIVE)
        assert page.receive_text() == "received"
        if isinstance(data, str):
            page.send_text(data)
        else:
            page.send_bytes(data)
        with pytest.raises(WebSocketDisconnect) as closed:
            page.receive_text()
        assert closed.value.code == code
    assert server.received == [ALIVE]


def test_a_lead_may_send_larger_messages(server: Server) -> None:
    large = BackMsg(rerun_script=ClientState(query_string="x" * 100_000)).SerializeToString()
    with server.page(LEA) as page:
        page.send_bytes(large)
        assert page.receive_text() == "received"
    assert server.received == [large]


def test_runs_beyond_the_budget_come_later_whichever_page_asks_for_them(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    tight = replace(LIMITS[Role.ANNOTATOR], burst=4, runs_per_s=2)
    monkeypatch.setattr(websocket, "LIMITS", {Role.ANNOTATOR: tight, Role.LEAD: tight})
    asleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asleep(0)

    monkeypatch.setattr(websocket.asyncio, "sleep", sleep)
    budget = websocket.RunBudget(lambda: 100.0)
    monkeypatch.setattr(websocket, "RunBudget", lambda: budget)
    server.client.app.middleware_stack = None  # type: ignore[attr-defined]  # a guard with that budget
    with server.page() as first, server.page() as second:  # opening a page costs a run
        for page in (first, second, first, second):
            page.send_bytes(RERUN)
            assert page.receive_text() == "received"
    assert waits == [0.5, 1.0]
    assert server.received == [RERUN] * 4, "they come later, and none is lost"


def test_scripts_of_annotators_run_in_turn_first_of_whoever_ran_least() -> None:
    now = [0.0]
    turns = ScriptTurns(at_once=1, clock=lambda: now[0])
    busy, other = AnnotatorId(1), AnnotatorId(2)
    ran: list[str] = []

    def run(user: AnnotatorId, name: str) -> None:
        with turns.of(user):
            ran.append(name)

    def begin(user: AnnotatorId, name: str) -> threading.Thread:
        waiting = len(turns._waiting)
        thread = threading.Thread(target=run, args=(user, name))
        thread.start()
        while len(turns._waiting) == waiting:
            thread.join(0.001)
        return thread

    with turns.of(busy):
        now[0] += 3  # seconds that the script runs
    with turns.of(other):
        with turns.of(other):  # a fragment inside the page's own run
            pass
        threads = [begin(busy, "busy 1"), begin(busy, "busy 2"), begin(other, "other")]
        assert ran == []
    for thread in threads:
        thread.join()
    assert ran == ["other", "busy 1", "busy 2"]


def test_a_script_that_hangs_stops_the_others_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "LONGEST_WAIT_S", 0.01)
    turns, hangs = ScriptTurns(at_once=1), threading.Event()

    def hang() -> None:
        with turns.of(AnnotatorId(1)):
            hangs.wait()

    thread = threading.Thread(target=hang)
    thread.start()
    while turns._free:
        thread.join(0.001)
    with turns.of(AnnotatorId(2)):
        pass
    hangs.set()
    thread.join()
    assert turns._free == 1
