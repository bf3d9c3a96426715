"""The process of a server, as `reelrank serve` starts it: what it says, what it counts, and how it ends."""

import json
import os
import re
import secrets
import shutil
import signal
import sqlite3
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from app_server import AppServer
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import Project, open_project
from support import free_port
from visitor import PASSWORD, Visitor, ask

pytestmark = pytest.mark.long

WRONG, CHOSEN = "wrong horse battery", "chosen horse battery"


@pytest.fixture(scope="module")
def project(demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The demo, without the clips that other copies of it have."""
    project = open_project(demo(tmp_path_factory.mktemp("process") / "project"))
    shutil.rmtree(project.clips.folder)
    yield project
    project.store.close()


@pytest.fixture(scope="module")
def metrics() -> str:
    """Where this server answers Prometheus."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def server(project: Project, metrics: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One for all tests; the last of them ends it."""
    told = {**os.environ, "REELRANK_LOG": "json", "REELRANK_METRICS": metrics}
    server = AppServer(project.folder, tmp_path_factory.mktemp("serve") / "server.log", env=told)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def ana(server: AppServer) -> Visitor:
    """Signed in, for all tests."""
    ana = Visitor()
    assert ana.sign_in(server.url, "Ana") == 303
    return ana


def graded(desk: dict[str, Any], number: int) -> dict[str, Any]:
    return {"pair": desk["items"][number]["pair"], "grade": 3, "key": secrets.token_hex(8), "active_ms": 900}


def said(server: AppServer) -> list[dict[str, str]]:
    """The log, each line of which is an object."""
    return [json.loads(line) for line in server.log.read_text(encoding="utf-8").splitlines()]


def figures(metrics: str) -> dict[str, float]:
    """What Prometheus would read."""
    with urllib.request.urlopen(f"http://{metrics}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[:1] != "#")}


def page_of(server: AppServer, visitor: Visitor) -> ClientConnection:
    """The connection of a page that stays open."""
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items())
    return connect(
        f"{server.url.replace('http', 'ws')}/_stcore/stream",
        additional_headers={"Cookie": cookies, "Origin": server.url},
        subprotocols=["streamlit"],  # type: ignore[list-item]
    )


def test_programs_that_look_after_it_are_answered_signed_out(server: AppServer) -> None:
    assert ask("GET", f"{server.url}/healthz").text == "ok\n"
    assert ask("GET", f"{server.url}/readyz").text == "ready\n"


def test_its_log_is_of_objects_and_holds_no_secret(server: AppServer, project: Project, ana: Visitor) -> None:
    invitation = add_person(project, OPERATOR, "Noa", Role.ANNOTATOR, now=time.time())
    noa, guesser = Visitor(), Visitor()
    form = noa.client.get(f"{server.url}/session/invitation/{invitation}").text
    csrf = re.findall(r'name="csrf" value="([^"]+)"', form)[0]
    fields = {"csrf": csrf, "password": CHOSEN, "again": CHOSEN}
    assert noa.client.post(f"{server.url}/session/invitation/{invitation}", data=fields).status_code == 303
    assert guesser.sign_in(server.url, "Ana", WRONG) == 401
    desk = ana.exchange(server.url, takes=True)["desk"]
    ana.exchange(server.url, grades=[graded(desk, 0)])
    headers = {"X-ReelRank": "1"}
    ana.client.post(f"{server.url}/desk/exchange", content=b'{"grades": [{"pair": ', headers=headers)
    ana.client.get(f"{server.url}/clips/no-such.mp4")

    lines = said(server)
    assert {*lines[0]} == {"at", "level", "logger", "message"}
    assert "Application startup complete." in [line["message"] for line in lines]
    text = server.log.read_text(encoding="utf-8")
    cookies = [value for one in (ana, noa, guesser) for value in one.client.cookies.values()]
    queries = [row[0] for row in project.store.db.execute("SELECT text FROM query")]
    assert len(cookies) >= 5
    assert len(queries) >= 12
    found = [secret for secret in (PASSWORD, WRONG, CHOSEN, invitation, csrf, *cookies, *queries) if secret in text]
    assert found == []


def test_prometheus_is_told_at_an_address_of_its_own(server: AppServer, metrics: str, ana: Visitor) -> None:
    before = figures(metrics)
    desk = ana.exchange(server.url)["desk"]
    ana.exchange(server.url, grades=[graded(desk, 0), {**graded(desk, 1), "pair": "no such pair"}])
    clip = ana.client.get(server.url + f"/clips/{desk['items'][3]['pair']}.mp4")
    assert clip.status_code == 200
    after = figures(metrics)
    saved, refused = (f'reelrank_grades_total{{outcome="{name}"}}' for name in ("saved", "refused"))
    assert after[saved] - before.get(saved, 0) == 1
    assert after[refused] - before.get(refused, 0) == 1
    assert after["reelrank_exchange_seconds_count"] - before["reelrank_exchange_seconds_count"] == 2
    assert after["reelrank_clip_wait_seconds_count"] - before["reelrank_clip_wait_seconds_count"] in (0, 1)
    assert after['reelrank_clip_queue{cutter="clips",order="urgent"}'] == 0
    assert after["reelrank_transactions_overtaken"] == 0
    assert ana.client.get(f"{server.url}/metrics").status_code == 404
    assert ask("GET", f"{server.url}/metrics").status_code in (303, 404)


def test_asked_to_stop_it_finishes_what_is_under_way_and_leaves_nothing(
    server: AppServer, project: Project, ana: Visitor
) -> None:
    assert server.process is not None
    desk = ana.exchange(server.url)["desk"]
    sent = threading.Event()

    def note(event: str, _of: object) -> None:
        if event == "http11.send_request_body.complete":
            sent.set()

    with (
        page_of(server, ana) as page,
        closing(sqlite3.connect(project.folder / "reelrank.db", isolation_level=None)) as held,
        ThreadPoolExecutor(1) as pool,
    ):
        assert page.response is not None
        held.execute("BEGIN IMMEDIATE")
        answer = pool.submit(
            ana.client.post,
            f"{server.url}/desk/exchange",
            json={"grades": [graded(desk, 0) | {"key": "under-way"}]},
            headers={"X-ReelRank": "1"},
            extensions={"trace": note},
        )
        assert sent.wait(60)  # now it waits for the database
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert server.process.poll() is None
        held.execute("ROLLBACK")
        assert answer.result().json()["receipts"][0]["status"] == "saved"
        ended = server.process.wait()
    assert ended == 0, server.log.read_text()
    assert [line for line in said(server) if "did not end by itself" in line["message"]] == []
    with pytest.raises(httpx.ConnectError):
        ask("GET", f"{server.url}/healthz")
    (kept,) = project.store.db.execute("SELECT count(*) FROM judgement WHERE event_key = 'under-way'").fetchone()
    assert kept == 1
    assert [line for line in said(server) if line["level"] in ("error", "critical")] == []
    left = [path.name for path in project.clips.folder.iterdir() if path.suffix not in (".mp4", ".webp")]
    assert left == []
    # A helper beside a server leaves when it sees that the server has gone, which is a moment later.
    deadline = time.monotonic() + 60
    while (left := processes_of(server.process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def processes_of(group: int) -> list[str]:
    """What lives of a session of processes."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == group and fields[0] != "Z":
            found.append(status.parent.name)
    return found
