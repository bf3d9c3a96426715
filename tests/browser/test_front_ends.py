"""Two front ends on one project that know nothing of each other, asked as browsers ask them; nginx in front."""

import math
import re
import secrets
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from app_server import AppServer
from backend.campaign.doctor.database import move
from backend.campaign.judging.model import DeskState
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password, list_people
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.serving.jobs import begin_job, end_job, report_progress
from backend.campaign.setup.serving.model import JobKind, JobOutcome, JobState
from backend.campaign.setup.serving.shared_state import begin_attempt
from nginx import running
from postgres import ENGINES, Cluster
from support import free_port
from visitor import PASSWORD, Visitor, ask

pytestmark = pytest.mark.long

PROXY = Path(__file__).parents[2] / "deploy" / "nginx.conf"


@pytest.fixture(scope="module", params=ENGINES)
def project(
    demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Project]:
    """One for all tests of an engine; each takes people of its own."""
    folder = demo(tmp_path_factory.mktemp("two") / "project")
    if request.param == "postgresql":
        cluster: Cluster = request.getfixturevalue("cluster")
        move(folder, cluster.address(cluster.new()), now=time.time())
    project = open_project(folder)
    yield project
    project.store.close()


@pytest.fixture(scope="module")
def servers(project: Project, serve: Callable[[Path], AppServer]) -> tuple[AppServer, AppServer]:
    """The two front ends, as `reelrank serve` starts them."""
    return serve(project.folder), serve(project.folder)


@pytest.fixture
def one(servers: tuple[AppServer, AppServer]) -> str:
    """The address of the first."""
    return servers[0].url


@pytest.fixture
def other(servers: tuple[AppServer, AppServer]) -> str:
    """The address of the second."""
    return servers[1].url


def test_a_session_begun_at_one_holds_at_both_and_ends_at_both(one: str, other: str) -> None:
    ana = Visitor()
    assert ana.sign_in(one, "Ana") == 303
    assert ana.client.get(f"{other}/session/account").status_code == 200
    assert ana.exchange(other)["desk"]["items"] == ana.exchange(one)["desk"]["items"] != []
    kept = httpx.Cookies(ana.client.cookies)
    ana.sign_out(other)
    for at in (one, other):
        refused = ask("POST", f"{at}/desk/exchange", json={}, headers={"X-ReelRank": "1"}, cookies=kept)
        assert refused.status_code == 401


def test_attempts_to_sign_in_are_counted_together_however_many_come_at_once(one: str, other: str) -> None:
    def guess(number: int) -> int:
        return Visitor().sign_in((one, other)[number % 2], "Nobody", f"guess {number}")

    began = time.monotonic()
    with ThreadPoolExecutor(6) as pool:
        answers = Counter(pool.map(guess, range(12)))
    # After three the waits are 1 s, 2 s, 4 s and so on, together 2**n - 1; two counts would let six in at once.
    most = 3 + int(math.log2(1 + time.monotonic() - began))
    assert answers[401] + answers[429] == 12
    assert 3 <= answers[401] <= most
    assert Visitor().sign_in(other, "Ana") == 303


def test_one_window_has_the_desk_whichever_front_end_it_talks_to(one: str, other: str) -> None:
    at_home, at_work = Visitor(), Visitor()  # two computers of one person
    assert at_home.sign_in(one, "Ben") == at_work.sign_in(other, "Ben") == 303
    assert not at_home.exchange(one, window="home", takes=True)["desk"]["elsewhere"]
    assert not at_home.exchange(other, window="home")["desk"]["elsewhere"]
    first = at_work.exchange(other, window="work", takes=True)["desk"]
    assert not first["elsewhere"]
    grade = {"pair": first["items"][0]["pair"], "grade": 3, "key": "given-before-it-was-told", "active_ms": 900}
    told = at_home.exchange(one, window="home", grades=[grade])
    assert told["desk"]["elsewhere"]
    assert [receipt["status"] for receipt in told["receipts"]] == ["saved"]
    assert not at_work.exchange(one, window="work")["desk"]["elsewhere"]
    assert not at_home.exchange(other, window="home", takes=True)["desk"]["elsewhere"]
    assert at_work.exchange(other, window="work")["desk"]["elsewhere"]


def test_a_job_of_one_is_shown_by_all_and_found_dead_by_all(project: Project, one: str, other: str) -> None:
    lea, now = Visitor(), time.time()
    assert lea.sign_in(one, "Lea") == 303
    lead = next(one.person for one in list_people(project, OPERATOR) if one.person.name == "Lea")
    # This process is a third front end.
    key = begin_job(project, lead, JobKind.SET_UP, "videos", "Measuring", {}, now=now)
    assert key
    assert [lea.menu(at)["/set-up"] for at in (one, other)] == ["working"] * 2
    report_progress(project, key, "measuring", 1, 4, now=now)
    assert [lea.menu(at)["/set-up"] for at in (one, other)] == ["25 %"] * 2
    report_progress(project, key, "measuring", 2, 4, now=now - 61)  # as if nothing had come since
    assert [lea.menu(at)["/set-up"] for at in (one, other)] == ["interrupted"] * 2
    end_job(project, key, JobState.DONE, JobOutcome(), now=now)
    assert [lea.menu(at).get("/set-up") for at in (one, other)] == [None] * 2


def test_two_servers_killed_lose_nothing(
    servers: tuple[AppServer, AppServer], project: Project, one: str, other: str
) -> None:
    cleo, guesser = Visitor(), Visitor()
    assert cleo.sign_in(one, "Cleo") == 303
    for minutes in range(55, 0, -5):  # each failure later than the wait after those before it
        begin_attempt(project, "Dan", "127.0.0.1", None, now=time.time() - 60 * minutes)
    # The twelfth failure makes the next attempt wait for five minutes.
    assert [guesser.sign_in(at, "Dan", "a guess") for at in (one, other)] == [401, 429]
    desk = cleo.exchange(one, window="before", takes=True)["desk"]
    assert desk["state"] == DeskState.READY
    pairs = [item["pair"] for item in desk["items"][:2]]
    for number, (at, pair) in enumerate(zip((one, other), pairs, strict=True)):
        grade = {"pair": pair, "grade": number, "key": f"cleo-{number}", "active_ms": 900}
        assert cleo.exchange(at, grades=[grade], window="before")["receipts"][0]["status"] == "saved"
    for server in servers:
        server.kill()
    for server in servers:
        server.start()
    told = cleo.exchange(other, window="another")["desk"]  # still signed in, and the desk still has its window
    assert (told["in_all"], told["elsewhere"]) == (2, True)
    assert (told["previous"]["pair"], told["previous"]["grade"]) == (pairs[1], 1)
    assert not cleo.exchange(one, window="before")["desk"]["elsewhere"]
    assert guesser.sign_in(other, "Dan") == 429


def test_a_body_with_two_lengths_ends_the_connection(one: str) -> None:
    host, _, port = one.removeprefix("http://").partition(":")
    request = (
        f"POST /session/sign-in HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 4\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=20) as connection, connection.makefile("rb") as answers:
        connection.sendall(request.encode())
        everything = answers.read()  # to the end, because the server closes the connection
    assert everything.startswith(b"HTTP/1.1 400 ")
    assert everything.count(b"HTTP/1.1 ") == 1, "the second request is not answered"


def test_a_message_is_refused_before_all_of_it_is_read(one: str) -> None:
    ana = Visitor()
    assert ana.sign_in(one, "Ana") == 303
    cookies = "; ".join(f"{name}={value}" for name, value in ana.client.cookies.items())
    # An annotator may send 64 KiB; beyond 2 MiB the head is enough. What the server has not read when it closes
    # makes the kernel drop its last words, so nothing more is sent.
    for size, sent in ((64 * 1024 + 1, 64 * 1024 + 1), (3 * 1024 * 1024, 0)):
        with connect(
            f"{one.replace('http', 'ws')}/_stcore/stream",
            additional_headers={"Cookie": cookies, "Origin": one},
            subprotocols=["streamlit"],  # type: ignore[list-item]
        ) as page:
            page.socket.sendall(struct.pack("!BBQ4s", 0x82, 0x80 | 127, size, b"mask") + bytes(sent))
            with pytest.raises(ConnectionClosed) as closed:
                page.recv(timeout=30)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


@pytest.fixture
def proxy(servers: tuple[AppServer, AppServer], tmp_path: Path) -> Iterator[str]:
    """nginx as it is deployed, but for other ports, no certificate, and an answer that names who gave it."""
    example = PROXY.read_text(encoding="utf-8")
    port = free_port()
    for was, now in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port}; add_header X-Upstream $upstream_addr always;"),
        ("127.0.0.1:8501", servers[0].url.removeprefix("http://")),
        ("# server 127.0.0.1:8502;", f"server {servers[1].url.removeprefix('http://')};"),
    ):
        assert example.count(was) == 1, was
        example = example.replace(was, now)
    example = re.sub(r"\n *ssl_certificate.*", "", example)
    with running(tmp_path, example, port):
        yield f"http://127.0.0.1:{port}"


def test_the_deployed_proxy_keeps_a_browser_at_one_front_end_while_that_lives(
    servers: tuple[AppServer, AppServer], project: Project, proxy: str
) -> None:
    # Eight people of a lab, behind one address, sign in at once.
    names = [f"Person {number} of the lab" for number in range(8)]
    for name in names:
        add_person_with_password(project, OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=time.time())
    visitors = [Visitor() for _ in names]
    with ThreadPoolExecutor(8) as pool:
        signed_in = [*pool.map(lambda visitor, name: visitor.sign_in(proxy, name), visitors, names)]
    assert signed_in == [303] * 8

    def front_ends_of(visitor: Visitor) -> set[str]:
        asked = [visitor.client.get(f"{proxy}/session/account") for _ in range(3)]
        assert {answer.status_code for answer in asked} == {200}
        return {answer.headers["x-upstream"] for answer in asked}

    found = [front_ends_of(visitor) for visitor in visitors]
    assert [len(one) for one in found] == [1] * 8
    (home,) = found[0]
    visitor = visitors[0]
    cookies = "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items())
    with connect(
        f"{proxy.replace('http', 'ws')}/_stcore/stream",
        additional_headers={"Cookie": cookies, "Origin": proxy},
        subprotocols=["streamlit"],  # type: ignore[list-item]
    ) as page:
        assert page.response is not None
        assert page.response.headers["X-Upstream"] == home
    # Over https the cookie has a prefix.
    homes = set()
    with httpx.Client(verify=False) as client:
        for token in (secrets.token_urlsafe(32) for _ in range(32)):
            cookies_sent = (
                f"a=1; __Host-reelrank_session={token}",
                f"__Host-reelrank_session={token}; b=2",
                f"__Secure-reelrank_session={token}",  # below a base path
            )
            answers = [client.get(f"{proxy}/healthz", headers={"Cookie": cookies}) for cookies in cookies_sent]
            (at,) = {answer.headers["x-upstream"] for answer in answers}
            homes.add(at)
    assert len(homes) == 2
    dead = next(server for server in servers if server.url.endswith(home))
    dead.kill()
    assert front_ends_of(visitor) != {home}  # the same session, at the other one
    dead.start()
