"""Somebody floods the desk's route with grades that cannot count, and somebody else is at work meanwhile, over HTTP.

The flood is a process of its own: its forty-five threads would keep that of the person who is measured from the clock.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from multiprocessing import get_context
from multiprocessing.connection import Connection

import msgspec


class Person:
    """Asks the desk's route over one connection that is kept."""

    def __init__(self, port: int, token: str, timeout_s: float = 120) -> None:
        self._http = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        self._headers = {"Cookie": f"reelrank_session={token}", "X-ReelRank": "1", "Content-Type": "application/json"}

    def exchange(self, body: bytes) -> tuple[int, bytes]:
        self._http.request("POST", "/desk/exchange", body, self._headers)
        answer = self._http.getresponse()
        return answer.status, answer.read()


def refused_grades(pair: str, name: str, events: int) -> bytes:
    """Each would be kept in the event log, because nothing that anybody typed is lost."""
    return msgspec.json.encode({"grades": [{"pair": pair, "grade": 9, "key": f"{name}-{n}"} for n in range(events)]})


def at_work(person: Person, lasts_s: float) -> tuple[list[float], str]:
    """Seconds of each grade with its next desk, one every 50 ms; and a pair that is on the desk at the end."""
    took: list[float] = []
    desk = msgspec.json.decode(person.exchange(b"{}")[1])["desk"]
    until = time.perf_counter() + lasts_s
    while time.perf_counter() < until:
        pair = desk["items"][0]["pair"]
        grade = {"pair": pair, "grade": 2, "key": f"{pair}-{len(took)}", "active_ms": 3000}
        body = msgspec.json.encode({"grades": [grade]})
        begun = time.perf_counter()
        status, answer = person.exchange(body)
        took.append(time.perf_counter() - begun)
        assert status == 200
        found = msgspec.json.decode(answer)
        assert found["receipts"][0]["status"] == "saved"
        desk = found["desk"]
        time.sleep(0.05)
    return took, desk["items"][0]["pair"]


@contextmanager
def flood(port: int, tokens: Sequence[str], pair: str, events: int) -> Iterator[Counter[int]]:
    """One request after the other from each of these sessions; afterwards, how often each status came."""
    statuses: Counter[int] = Counter()
    process_context = get_context("spawn")
    ours, theirs = process_context.Pipe()
    process = process_context.Process(target=_flood, args=(theirs, port, tokens, pair, events))
    process.start()
    assert ours.recv() == "under way"
    yield statuses
    ours.send("over")
    statuses.update(ours.recv())
    process.kill()  # what it has asked for by now nobody waits for
    process.join()


def _flood(told: Connection, port: int, tokens: Sequence[str], pair: str, events: int) -> None:
    statuses: Counter[int] = Counter()

    def ask(n: int, token: str) -> None:
        person, sent = Person(port, token), 0
        while True:
            statuses[person.exchange(refused_grades(pair, f"{n}-{sent}", events))[0]] += 1
            sent += 1

    threads = [threading.Thread(target=ask, args=pair_, daemon=True) for pair_ in enumerate(tokens)]
    told.send("under way")
    for thread in threads:
        thread.start()
    told.recv()
    told.send(Counter(statuses))
