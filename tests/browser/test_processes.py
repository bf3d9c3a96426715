"""Several processes of one `reelrank serve --processes`: they share a port, die and end; browsers notice nothing."""

import os
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import ConnectionClosed

from app_server import AppServer, sign_in
from backend.campaign.demo import demo_people
from backend.campaign.setup.project.folder import open_project
from hands import downloaded, press, saved
from support import have_read
from test_server_process import page_of, processes_of
from visitor import PASSWORD, Visitor, ask

pytestmark = pytest.mark.long
LEAD, (ANA, BEN, *_), _ = demo_people()
COOKIE = "reelrank_process"


@pytest.fixture(scope="module")
def started(demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One for all tests."""
    folder = demo(tmp_path_factory.mktemp("several") / "project", judged=True)
    project = open_project(folder)
    have_read(project)
    project.store.close()
    server = AppServer(folder, tmp_path_factory.mktemp("serve") / "server.log", options=["--processes", "2"])
    yield server
    server.stop()


@pytest.fixture
def server(started: AppServer) -> AppServer:
    """It runs, whatever the test before did to it."""
    started.wanted = True
    started.revive()
    return started


def front_of(server: AppServer) -> int:
    assert server.process is not None
    return server.process.pid


def process(server: AppServer, number: int) -> int:
    """The process with this number, once it runs."""
    parent = front_of(server)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for child in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
            try:
                environment = Path(f"/proc/{child}/environ").read_bytes().decode().split("\0")
            except OSError:
                continue
            if any(re.fullmatch(rf"REELRANK_HANDOVER=\d+ {number} \d", one) for one in environment):
                return int(child)
        time.sleep(0.05)
    raise AssertionError(server.log.read_text())


def wait_for(what: Callable[[], bool], server: AppServer) -> None:
    deadline = time.monotonic() + 90
    while not what():
        assert time.monotonic() < deadline, server.log.read_text()
        time.sleep(0.05)


def serves(server: AppServer, home: str) -> bool:
    """Whether browsers of this process are served by it."""
    return COOKIE not in ask("GET", f"{server.url}/healthz", cookies={COOKIE: home}).headers.get("set-cookie", "")


def test_browsers_stay_and_move_when_a_process_dies(server: AppServer) -> None:
    visitors = [Visitor() for _ in range(4)]
    for visitor, name in zip(visitors, (ANA, BEN, ANA, BEN), strict=True):
        assert visitor.sign_in(server.url, name) == 303
    homes = [visitor.client.cookies[COOKIE] for visitor in visitors]
    assert sorted(homes) == ["0", "0", "1", "1"]
    ana = visitors[0]
    home, other = homes[0], "10"[int(homes[0])]
    for path in ("/session/account", "/", "/desk/shown"):
        assert COOKIE not in ana.client.get(f"{server.url}{path}").headers.get("set-cookie", "")
    desk = ana.exchange(server.url, takes=True, window="here")["desk"]
    clip = f"{server.url}/clips/{desk['items'][0]['pair']}.mp4"
    part = ana.client.get(clip, headers={"Range": "bytes=4-7"})
    assert (part.status_code, part.content) == (206, b"ftyp"), "a part of an MP4 file"
    with page_of(server, ana) as page:
        assert page.response is not None
        assert COOKIE not in page.response.headers.get("Set-Cookie", ""), "the websocket is at the same process"
        died = process(server, int(home))
        os.kill(died, signal.SIGKILL)
        with pytest.raises(ConnectionClosed):
            list(page)
        wait_for(lambda: not Path(f"/proc/{died}").exists(), server)  # all its connections are closed
    grade = {"pair": desk["items"][0]["pair"], "grade": 3, "key": "after-the-death", "active_ms": 900}
    answer = ana.exchange(server.url, grades=[grade], window="here")
    assert answer["receipts"][0]["status"] == "saved"
    assert not answer["desk"]["elsewhere"]
    assert ana.client.cookies[COOKIE] == other
    with page_of(server, ana) as page:
        assert page.response is not None
        assert COOKIE not in page.response.headers.get("Set-Cookie", "")
    assert process(server, int(home)) != died, "another one takes its place"
    wait_for(lambda: serves(server, home), server)
    assert ana.client.get(f"{server.url}/session/account").status_code == 200
    assert ana.client.cookies[COOKIE] == other, "who moved stays"
    assert f"server process {int(home) + 1} was ended by SIGKILL: starting it anew" in server.log.read_text()


def test_a_process_that_is_asked_to_stop_alone_loses_no_request(server: AppServer) -> None:
    stopped, errors = threading.Event(), []

    def keep_asking() -> int:
        count = 0
        while not stopped.is_set():
            try:
                assert ask("GET", f"{server.url}/session/sign-in", timeout=60).status_code == 200
            except Exception as error:
                errors.append(repr(error))
            count += 1
        return count

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(keep_asking) for _ in range(4)]
        died = process(server, 0)
        os.kill(died, signal.SIGTERM)
        wait_for(lambda: process(server, 0) != died, server)
        stopped.set()
        assert min(one.result() for one in asking) > 0
    assert errors == []


@pytest.mark.browser
def test_people_go_on_while_their_process_is_killed(server: AppServer, open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.goto(server.url)
    sign_in(page, ANA, PASSWORD)
    press(page, "3")
    saved(page)
    for _ in range(2):  # it moves to the other one, and back
        (home,) = (cookie["value"] for cookie in page.context.cookies() if cookie["name"] == COOKIE)
        died = process(server, int(home))
        os.kill(died, signal.SIGKILL)
        press(page, "2")
        saved(page)
        page.goto(f"{server.url}/my-work")
        expect(page.get_by_role("heading", name="My work")).to_be_visible()
        wait_for(partial(serves, server, home), server)
        page.goto(f"{server.url}/grade")
    page.context.close()  # one page at a time: Chromium ran out of memory here
    lead = open_page()
    lead.goto(f"{server.url}/activity")
    sign_in(lead, LEAD, PASSWORD)
    press_button = partial(lead.get_by_role("button", name="Download as CSV").click, timeout=30_000)
    assert downloaded(lead, press_button).path().read_bytes()
    (home,) = (cookie["value"] for cookie in lead.context.cookies() if cookie["name"] == COOKIE)
    os.kill(process(server, int(home)), signal.SIGKILL)
    lead.reload()
    assert downloaded(lead, press_button).path().read_bytes()
    given = server.rows("SELECT count(*) FROM judgement j JOIN annotator a USING (annotator_id) WHERE a.name = ?", ANA)
    assert given[0][0] >= 3


def test_asked_to_stop_all_finish_what_is_under_way(server: AppServer) -> None:
    wait_for(lambda: serves(server, "0") and serves(server, "1"), server)  # one of them may have been killed just now
    visitors = [Visitor(), Visitor()]
    for visitor, name in zip(visitors, (ANA, BEN), strict=True):
        assert visitor.sign_in(server.url, name) == 303
    assert {visitor.client.cookies[COOKIE] for visitor in visitors} == {"0", "1"}
    desks = [visitor.exchange(server.url, takes=True)["desk"] for visitor in visitors]
    sent = [threading.Event(), threading.Event()]

    def give(number: int) -> str:
        def note(event: str, _of: object) -> None:
            if event == "http11.send_request_body.complete":
                sent[number].set()

        grade = {"pair": desks[number]["items"][0]["pair"], "grade": 3, "key": f"under-way-{number}", "active_ms": 900}
        answer = visitors[number].client.post(
            f"{server.url}/desk/exchange",
            json={"grades": [grade]},
            headers={"X-ReelRank": "1"},
            extensions={"trace": note},
        )
        return str(answer.json()["receipts"][0]["status"])

    group = front_of(server)
    assert server.process is not None
    with (
        closing(sqlite3.connect(server.project / "reelrank.db", isolation_level=None)) as held,
        ThreadPoolExecutor(2) as pool,
    ):
        held.execute("BEGIN IMMEDIATE")
        given = [pool.submit(give, number) for number in range(2)]
        assert all(one.wait(60) for one in sent)  # both wait for the database
        server.process.send_signal(signal.SIGTERM)
        wait_for(lambda: refuses(server), server)
        held.execute("ROLLBACK")
        assert [one.result() for one in given] == ["saved"] * 2
    assert server.process.wait() == 0, server.log.read_text()
    assert server.log.read_text().count("Stopped.") == 1
    assert "did not end by" not in server.log.read_text()
    assert server.rows("SELECT count(*) FROM judgement WHERE event_key LIKE 'under-way-%'") == [(2,)]
    wait_for(lambda: processes_of(group) == [], server)


def refuses(server: AppServer) -> bool:
    try:
        ask("GET", f"{server.url}/healthz", timeout=1)
    except httpx.ConnectError:
        return True
    except httpx.HTTPError:
        pass
    return False


def test_nothing_is_left_when_the_process_at_the_port_is_killed(server: AppServer) -> None:
    group = front_of(server)
    assert len(processes_of(group)) >= 3
    os.kill(group, signal.SIGKILL)
    wait_for(lambda: processes_of(group) == [], server)


def test_a_server_that_cannot_start_says_why_and_ends(started: AppServer, tmp_path: Path) -> None:
    other = AppServer(started.project, tmp_path / "other.log", options=["--processes", "2", "--base-path", "/grade"])
    with pytest.raises(AssertionError, match="begins like an address of the app"):
        other.start()
    assert "Serving" not in other.log.read_text()
