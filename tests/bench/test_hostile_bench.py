"""Somebody floods the desk's route with grades that cannot count: what a key press of somebody else takes meanwhile.

One server as people start it; the flood and the bystander ask over HTTP from this process. Never fails on a time.
"""

import os
import shutil
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from pathlib import Path

import msgspec
import pytest

from annotate_app.server.turns import MOST_EVENTS
from backend import api
from backend.campaign.nouns import Role
from bench import campaign
from bench.tables import table
from browser.app_server import AppServer
from support import have_read

pytestmark = pytest.mark.bench

AT_ONCE = 45
LASTS_S = float(os.environ.get("REELRANK_BENCH_S", "60")) / 6
PASSWORD = "a long password"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A campaign on its first day, and the sessions of its people."""
    folder = tmp_path_factory.mktemp("flooded") / "project"
    project = campaign.open_project(folder, 4_000)
    now = time.time()
    names = [f"person {n}" for n in range(AT_ONCE + 1)]
    for name in names:
        api.add_person_with_password(project, api.OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=now)
    have_read(project)
    tokens = [api.sign_in(project, name, PASSWORD, now=now) for name in names]
    project.store.close()
    return folder, tokens


@pytest.fixture
def server(made: tuple[Path, list[str]], tmp_path: Path) -> Iterator[AppServer]:
    """A fresh one for every flood: what somebody handed in in the hour before counts."""
    folder = Path(shutil.copytree(made[0], tmp_path / "project"))
    served = AppServer(folder, tmp_path / "log")
    served.start()
    yield served
    served.stop()


class Person:
    """Asks the desk's route over one connection that is kept."""

    def __init__(self, port: int, token: str) -> None:
        self._http = HTTPConnection("127.0.0.1", port, timeout=120)
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


def flood(port: int, tokens: Sequence[str], pair: str, events: int, over: threading.Event) -> Counter[int]:
    """One request after the other from each of these sessions, until it is over; how often each status came."""
    statuses: Counter[int] = Counter()

    def ask(n: int, token: str) -> None:
        person, sent = Person(port, token), 0
        while not over.is_set():
            statuses[person.exchange(refused_grades(pair, f"{n}-{sent}", events))[0]] += 1
            sent += 1

    threads = [threading.Thread(target=ask, args=pair_) for pair_ in enumerate(tokens)]
    for thread in threads:
        thread.start()
    over.wait()
    for thread in threads:
        thread.join()
    return statuses


def spread(took: list[float]) -> str:
    ordered = sorted(took)
    parts = (statistics.median(ordered), ordered[int(len(ordered) * 0.95)], ordered[-1])
    return " / ".join(f"{part * 1e3:.0f} ms" for part in parts)


ROWS: list[list[str]] = []


@pytest.mark.parametrize(
    ("what", "people", "events"),
    [
        ("one person, 300 grades a request", 1, 300),
        (f"one person, {MOST_EVENTS} grades a request", 1, MOST_EVENTS),
        (f"{AT_ONCE} people, {MOST_EVENTS} grades a request", AT_ONCE, MOST_EVENTS),
        (f"{AT_ONCE} people, 300 grades a request", AT_ONCE, 300),
    ],
)
def test_a_key_press_beside_a_flood(
    server: AppServer, made: tuple[Path, list[str]], what: str, people: int, events: int
) -> None:
    bystander, *others = made[1]
    me = Person(server.port, bystander)
    at_work(me, 1.0)
    quiet, pair = at_work(me, LASTS_S / 2)
    over = threading.Event()
    statuses: list[Counter[int]] = []
    tokens = [others[n % people] for n in range(AT_ONCE)]
    flooding = threading.Thread(target=lambda: statuses.append(flood(server.port, tokens, pair, events, over)))
    flooding.start()
    beside, _ = at_work(me, LASTS_S)
    over.set()
    flooding.join()
    answers = ", ".join(f"{count} x {status}" for status, count in sorted(statuses[0].items()))
    ROWS.append([what, spread(quiet), spread(beside), answers])


def test_table() -> None:
    head = f"{AT_ONCE} requests at once, all the time|a key press before|a key press meanwhile|answers to the flood"
    table("A flood of grades that cannot count: median / p95 / longest", ROWS, ["starlette", "uvicorn"], head)
