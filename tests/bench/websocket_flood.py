"""Programs that open pages by websocket and run their scripts as fast as they can, in a process of their own."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates

PAGE = "my-work"


@dataclass(frozen=True)
class Shape:
    """How a flood is made."""

    pages: int
    people: int = 1
    runs_per_s: float | None = None
    """Of each page; None for as fast as it can send."""
    reconnects: bool = False
    """Whether each page closes after its first message and opens anew."""
    state_bytes: int = 0
    """Of the state of a widget that comes with every message."""


@contextmanager
def websocket_flood(port: int, tokens: Sequence[str], shape: Shape) -> Iterator[Counter[str]]:
    """Flood a server from the sessions of some people; afterwards, how often what happened to the pages."""
    outcome: Counter[str] = Counter()
    process_context = get_context("spawn")
    ours, theirs = process_context.Pipe()
    process = process_context.Process(target=_run, args=(theirs, port, tokens, shape))
    process.start()
    assert ours.recv() == "under way"
    try:
        yield outcome
    finally:
        ours.send("over")
        if ours.poll(10):
            outcome.update(ours.recv())
        process.kill()
        process.join()


def _run(told: Connection, port: int, tokens: Sequence[str], shape: Shape) -> None:
    asyncio.run(_flood(told, port, tokens, shape))


async def _flood(told: Connection, port: int, tokens: Sequence[str], shape: Shape) -> None:
    outcome: Counter[str] = Counter()
    tasks = [asyncio.create_task(_page(port, tokens[n % shape.people], shape, outcome)) for n in range(shape.pages)]
    await asyncio.sleep(0.5)
    told.send("under way")
    await asyncio.get_running_loop().run_in_executor(None, told.recv)
    told.send(outcome)
    for task in tasks:
        task.cancel()


async def _page(port: int, token: str, shape: Shape, outcome: Counter[str]) -> None:
    state = WidgetStates()
    if shape.state_bytes:
        state.widgets.append(WidgetState(id="x", string_value="x" * shape.state_bytes))
    rerun = BackMsg(rerun_script=ClientState(page_name=PAGE, widget_states=state)).SerializeToString()
    while True:
        try:
            async with websockets.connect(
                f"ws://127.0.0.1:{port}/_stcore/stream",
                subprotocols=["streamlit"],  # type: ignore[list-item]
                additional_headers={"Cookie": f"reelrank_session={token}", "Origin": f"http://127.0.0.1:{port}"},
                max_size=None,
                open_timeout=120,
                ping_interval=None,
                compression=None,
                close_timeout=1,
            ) as page:
                outcome["opened"] += 1
                reader = asyncio.create_task(_read(page))
                try:
                    while True:
                        await page.send(rerun)
                        outcome["asked for a run"] += 1
                        if shape.reconnects:
                            break
                        await asyncio.sleep(1 / shape.runs_per_s if shape.runs_per_s else 0)
                finally:
                    reader.cancel()
        except (OSError, websockets.WebSocketException, TimeoutError) as error:
            closed = getattr(error, "rcvd", None)
            outcome[f"closed with {closed.code}" if closed else "refused"] += 1
            await asyncio.sleep(0.1)


async def _read(page: websockets.ClientConnection) -> None:
    async for _message in page:
        pass
