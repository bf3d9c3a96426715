"""Annotators without a browser: what theirs would ask of a server, from a process of its own.

Each signs in, keeps Streamlit's websocket open as a page does, loads the clips of the desk once, tells which clip is on
screen, and sends a grade after a random pause. Prints `ready` when all are at work, then works until its input ends,
and prints what it saw as JSON.

Usage: python crowd_load.py URL PASSWORD THINK_S NAME...
"""

import asyncio
import json
import random
import re
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import httpx
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg


@dataclass
class Seen:
    """What happened to all of them together."""

    exchange_ms: list[float] = field(default_factory=list)
    clip_ms: list[float] = field(default_factory=list)
    clip_bytes: int = 0
    pages: int = 0
    refused: int = 0
    ran_dry: int = 0
    errors: list[str] = field(default_factory=list)


class Annotator:
    """One of the crowd."""

    def __init__(self, url: str, name: str, seen: Seen) -> None:
        self._url = url
        self._name = name
        self._seen = seen
        self._chance = random.Random(name)
        # Shorter than the 5 s after which the server closes an idle connection: else both may act at once.
        limits = httpx.Limits(keepalive_expiry=2)
        self._client = httpx.AsyncClient(base_url=url, timeout=60, limits=limits)
        self._loaded: set[str] = set()
        self._sent = 0

    async def enter(self, password: str) -> None:
        """Sign in by the form, as a person does, and open the page."""
        form = await self._client.get("/session/sign-in")
        csrf = re.search(r'name="csrf" value="([^"]+)"', form.text)
        fields = {"name": self._name, "password": password, "csrf": csrf[1] if csrf else ""}
        answer = await self._client.post("/session/sign-in", data=fields)
        if answer.status_code != 303:
            raise RuntimeError(f"{self._name} could not sign in: {answer.status_code}")
        await self._client.get("/grade")
        self._cookies = "; ".join(f"{name}={value}" for name, value in self._client.cookies.items())

    async def keep_page(self, opened: asyncio.Event) -> None:
        """Streamlit's session: one script run, then an open connection that listens."""
        address = self._url.replace("http", "ws", 1) + "/_stcore/stream"
        protocols = [websockets.Subprotocol("streamlit")]
        headers = {"Cookie": self._cookies, "Origin": self._url}
        async with websockets.connect(
            address, subprotocols=protocols, additional_headers=headers, max_size=None
        ) as socket:
            run = BackMsg()
            run.rerun_script.query_string = ""
            await socket.send(run.SerializeToString())
            async for message in socket:
                if b"reelrank_player" in bytes(message) and not opened.is_set():
                    self._seen.pages += 1
                    opened.set()

    async def work(self, think_s: float) -> None:
        """Grade until cancelled."""
        desk = await self._exchange([])
        while True:
            for item in desk["items"]:
                await self._load(item["pair"])
            if not desk["items"]:
                self._seen.ran_dry += 1
                await asyncio.sleep(think_s)
                desk = await self._exchange([])
                continue
            pair = desk["items"][0]["pair"]
            await self._post("/desk/shown", {"pair": pair})
            await asyncio.sleep(self._chance.expovariate(1 / think_s))
            # People mostly agree: one pair in eight or so needs four of them.
            likely = random.Random(pair).randrange(5) + self._chance.choices((-1, 0, 1), (1, 3, 1))[0]
            self._sent += 1
            grade = {"pair": pair, "grade": min(4, max(0, likely)), "key": f"{self._name}-{time.time_ns()}"}
            desk = await self._exchange([grade | {"active_ms": 1500, "elapsed_ms": 1600}])

    async def _exchange(self, grades: list[dict[str, Any]]) -> dict[str, Any]:
        began = time.perf_counter()
        answer = await self._post("/desk/exchange", {"grades": grades, "skips": []})
        if grades:
            self._seen.exchange_ms.append((time.perf_counter() - began) * 1e3)
        said = answer.json()
        self._seen.refused += sum(receipt["status"] != "saved" for receipt in said["receipts"])
        return dict(said["desk"])

    async def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        answer = await self._client.post(path, json=body, headers={"X-ReelRank": "1", "Origin": self._url})
        if not answer.is_success:
            self._seen.errors.append(f"{path}: {answer.status_code} {answer.text[:200]}")
            raise RuntimeError(f"{path} was refused")
        return answer

    async def _load(self, pair: str) -> None:
        if pair in self._loaded:
            return
        self._loaded.add(pair)
        began = time.perf_counter()
        answer = await self._client.get(f"/clips/{pair}.mp4")
        self._seen.clip_ms.append((time.perf_counter() - began) * 1e3)
        self._seen.clip_bytes += len(answer.content)
        if answer.status_code != 200:
            self._seen.errors.append(f"/clips: {answer.status_code}")


async def crowd(url: str, password: str, think_s: float, names: list[str]) -> Seen:
    """Let them work until standard input ends."""
    seen = Seen()
    people = [Annotator(url, name, seen) for name in names]
    tasks = []
    for person in people:  # one after the other, as people arrive
        await person.enter(password)
        opened = asyncio.Event()
        tasks.append(asyncio.create_task(person.keep_page(opened)))
        await asyncio.wait_for(opened.wait(), 60)
    tasks += [asyncio.create_task(person.work(think_s)) for person in people]
    await asyncio.sleep(think_s)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    seen.errors += [repr(task.exception()) for task in tasks if task.done() and not task.cancelled()]
    for task in tasks:
        task.cancel()
    return seen


if __name__ == "__main__":
    url_, password_, think_, *names_ = sys.argv[1:]
    print(json.dumps(asdict(asyncio.run(crowd(url_, password_, float(think_), names_)))))
