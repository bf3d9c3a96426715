"""People at full speed over HTTP: each has a connection, and sends a grade as soon as the desk is there.

The people of `browser/crowd_load.py` do all that a browser does. These only send grades, from one event loop in a
process of its own, because they share the cores with the server: a grade costs them 0.2 ms of CPU.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection

import msgspec

from bench.crowd import likely_grade


@dataclass
class Crowd:
    """What people at work found."""

    seconds: list[float] = field(default_factory=list)
    """Time from sending a grade to the answer with the next desk, for each grade after the warm-up."""
    refused: int = 0
    errors: list[str] = field(default_factory=list)
    cpu_s: float = 0.0
    """CPU that the people themselves took after the warm-up."""


class _Item(msgspec.Struct):
    pair: str


class _Desk(msgspec.Struct):
    items: list[_Item]


class _Receipt(msgspec.Struct):
    status: str


class _Answer(msgspec.Struct):
    desk: _Desk
    receipts: list[_Receipt]


class At:
    """A crowd at work."""

    def __init__(self, port: int, tokens: Sequence[str], lasts_s: float) -> None:
        process_context = get_context("spawn")
        self._told, theirs = process_context.Pipe()
        self._process = process_context.Process(target=_begin, args=(theirs, port, tokens, lasts_s))
        self._process.start()

    def begins_to_count(self) -> None:
        """Return when everybody has given some grades."""
        assert self._told.recv() == "warm"

    def found(self) -> Crowd:
        """Return what they found, when time is up."""
        crowd: Crowd = self._told.recv()
        self._process.join()
        return crowd


def _begin(told: Connection, port: int, tokens: Sequence[str], lasts_s: float) -> None:
    told.send(asyncio.run(_work(told, port, tokens, lasts_s)))


async def _work(told: Connection, port: int, tokens: Sequence[str], lasts_s: float) -> Crowd:
    crowd, over, counts = Crowd(), asyncio.Event(), asyncio.Event()
    decode = msgspec.json.Decoder(_Answer).decode

    async def person(n: int, token: str) -> None:
        chance = random.Random(n)
        cookies = f"reelrank_session={token}"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def ask(body: bytes) -> _Answer:
            nonlocal cookies, reader, writer
            head = (
                f"POST /desk/exchange HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookies}\r\nX-ReelRank: 1\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(answer.partition(b"content-length: ")[2].partition(b"\r\n")[0])
            content = await reader.readexactly(length)
            if b" 200 " not in answer[:16]:
                raise RuntimeError(f"{answer[:16]!r} {content[:200]!r}")
            if b"\r\nconnection: close" in answer:  # this browser has its process from now on
                cookies += f"; reelrank_process={answer.partition(b'reelrank_process=')[2][:1].decode()}"
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            return decode(content)

        try:
            given, found = 0, await ask(b"{}")
            while not over.is_set():
                if not found.desk.items:
                    await asyncio.sleep(0.05)
                    found = await ask(b"{}")
                    continue
                pair = found.desk.items[0].pair
                grade = {"pair": pair, "grade": likely_grade(pair, chance), "key": f"{n}-{given}", "active_ms": 3000}
                grade["elapsed_ms"] = 3000
                body, begun = msgspec.json.encode({"grades": [grade]}), time.perf_counter()
                found, given = await ask(body), given + 1
                if counts.is_set() and not over.is_set():
                    crowd.seconds.append(time.perf_counter() - begun)
                crowd.refused += found.receipts[0].status != "saved"
        except (OSError, RuntimeError, asyncio.IncompleteReadError) as error:
            crowd.errors.append(repr(error))

    people = [asyncio.create_task(person(n, token)) for n, token in enumerate(tokens)]
    await asyncio.sleep(3.0)
    counts.set()
    told.send("warm")
    begun = time.process_time()
    await asyncio.sleep(lasts_s)
    over.set()
    crowd.cpu_s = time.process_time() - begun
    await asyncio.gather(*people)
    return crowd
