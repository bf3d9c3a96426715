"""One `reelrank serve FOLDER` of two campaigns: one sign-in for both, and nothing of one reaches the other."""

import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from app_server import AppServer, sign_in
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in as session_of
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.serving.jobs import begin_job
from backend.campaign.setup.serving.model import JobKind
from backend.campaign.setup.serving.shared_state import begin_attempt
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token
from hands import press, saved
from support import have_read, person_of
from visitor import PASSWORD, ask

pytestmark = pytest.mark.long
LEAD, (ANA, BEN, *_), _ = demo_people()
FILMS_ONLY, OTHER_PASSWORD = "Zoe of films", "another long password"


@pytest.fixture(scope="module")
def lab(demo: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two campaigns with the same people; Ben has another password in one, and Zoe works in one alone."""
    lab = tmp_path_factory.mktemp("lab") / "lab"
    lab.mkdir()
    demo(lab / "films")
    demo(lab / "news")
    (lab / "notes").mkdir()  # no project
    for name in ("films", "news"):
        project = open_project(lab / name)
        have_read(project)
        if name == "films":
            add_person_with_password(project, OPERATOR, FILMS_ONLY, Role.ANNOTATOR, OTHER_PASSWORD, now=time.time())
        project.store.close()
    for name, title in (("films", "Old films"), ("news", "The <news>")):
        settings = lab / name / "reelrank.toml"
        settings.write_text(re.sub(r'(?m)^name = ".*"', f'name = "{title}"', settings.read_text(), count=1))
    return lab


@pytest.fixture(scope="module")
def server(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    server = AppServer(lab, tmp_path_factory.mktemp("serve") / "server.log")
    server.start()
    yield server
    server.stop()


class Browser:
    """A cookie jar that keeps paths apart, as browsers do."""

    def __init__(self, server: AppServer) -> None:
        self.url = server.url
        self.client = httpx.Client(timeout=60, verify=False, follow_redirects=False)

    def enter(self, name: str, password: str = PASSWORD) -> int:
        page = self.client.get(f"{self.url}/campaigns/session/sign-in").text
        csrf = re.findall(r'name="csrf" value="([^"]+)"', page)[0]
        fields = {"csrf": csrf, "name": name, "password": password}
        return self.client.post(f"{self.url}/campaigns/session/sign-in", data=fields).status_code

    def listed(self) -> dict[str, str]:
        """The campaigns of the list, by address."""
        page = self.client.get(f"{self.url}/campaigns/").text
        return dict(re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', page))

    def is_in(self, campaign: str) -> bool:
        return self.client.get(f"{self.url}/{campaign}/session/account").status_code == 200

    def cookies(self, path: str) -> dict[str, str]:
        return {cookie.name: cookie.value or "" for cookie in self.client.cookies.jar if cookie.path == path}


def test_one_sign_in_opens_all_campaigns_of_a_person(server: AppServer) -> None:
    ana = Browser(server)
    assert ana.client.get(server.url).headers["location"] == "/campaigns/"
    assert ana.listed() == {}
    assert ana.enter(ANA, "a wrong password") == 401
    assert not ana.is_in("films")
    assert ana.enter(ANA) == 303
    assert ana.listed() == {"/films/": "Old films", "/news/": "The &lt;news&gt;"}
    assert ana.is_in("films")
    assert ana.is_in("news")
    # Every cookie belongs to one campaign or to the entrance.
    assert {cookie.path for cookie in ana.client.cookies.jar} == {"/campaigns", "/films", "/news"}
    sessions = [ana.cookies(f"/{name}")["reelrank_session"] for name in ("films", "news")]
    assert len({*sessions}) == 2
    page = ana.client.get(f"{server.url}/campaigns/").text
    csrf = re.findall(r'name="csrf" value="([^"]+)"', page)[0]
    assert ana.client.post(f"{server.url}/campaigns/session/sign-out", data={"csrf": "forged"}).status_code == 403
    assert ana.is_in("films")
    assert ana.client.post(f"{server.url}/campaigns/session/sign-out", data={"csrf": csrf}).status_code == 303
    assert ana.listed() == {}
    for name, token in zip(("films", "news"), sessions, strict=True):
        ended = ask("GET", f"{server.url}/{name}/session/account", cookies={"reelrank_session": token})
        assert ended.status_code == 303, "the session has ended, and not only its cookie"


def test_people_see_their_own_campaigns_only(server: AppServer) -> None:
    browser = Browser(server)
    assert browser.enter(ANA) == 303
    assert browser.enter(FILMS_ONLY, OTHER_PASSWORD) == 303  # at the same computer, and Ana has not signed out
    assert [*browser.listed()] == ["/films/"]
    assert browser.is_in("films")
    assert not browser.is_in("news")
    assert "news" not in browser.client.get(f"{server.url}/campaigns/").text
    assert "films" not in ask("GET", f"{server.url}/campaigns/").text, "strangers are told no names"


def test_a_sign_out_at_a_campaign_takes_it_off_the_list(server: AppServer) -> None:
    ana = Browser(server)
    assert ana.enter(ANA) == 303
    page = ana.client.get(f"{server.url}/news/session/account").text
    csrf = re.findall(r'name="csrf" value="([^"]+)"', page)[0]
    assert ana.client.post(f"{server.url}/news/session/sign-out", data={"csrf": csrf}).status_code == 303
    assert [*ana.listed()] == ["/films/"]


def test_failed_attempts_count_where_the_name_is_known(server: AppServer, lab: Path) -> None:
    def failures() -> dict[str, int]:
        found = {}
        for name in ("films", "news"):
            project = open_project(lab / name)
            (found[name],) = project.store.db.execute("SELECT count(*) FROM sign_in_attempt").fetchone()
            project.store.close()
        return found

    before = failures()
    assert Browser(server).enter(FILMS_ONLY, OTHER_PASSWORD) == 303
    assert failures()["news"] == before["news"], "nobody is called so there"
    assert Browser(server).enter(FILMS_ONLY, "a guess") == 401
    assert failures()["news"] == before["news"]
    assert failures()["films"] > before["films"]
    assert Browser(server).enter("Nobody", "a guess") == 401
    assert failures()["news"] > before["news"], "a name that nobody has counts at all"
    films = open_project(lab / "films")
    for minutes in range(55, 0, -5):  # at the campaign's own page, each later than the wait after those before it
        begin_attempt(films, FILMS_ONLY, "127.0.0.1", None, now=time.time() - 60 * minutes)
    films.store.close()
    assert Browser(server).enter(FILMS_ONLY, "a guess") in (401, 429)
    assert Browser(server).enter(FILMS_ONLY, OTHER_PASSWORD) == 429, "guesses there count here"
    assert Browser(server).enter(ANA) == 303


def test_nothing_of_one_campaign_opens_the_other(server: AppServer, lab: Path) -> None:
    films, news = open_project(lab / "films"), open_project(lab / "news")
    now = time.time()
    token = session_of(films, ANA, PASSWORD, now=now)
    lead = person_of(films, LEAD)
    cookies = {"reelrank_session": token}
    page = {"X-ReelRank": "1"}

    def exchange(campaign: str) -> httpx.Response:
        return ask(
            "POST", f"{server.url}/{campaign}/desk/exchange", json={"takes": True}, headers=page, cookies=cookies
        )

    answer = exchange("films")
    assert answer.status_code == 200
    clip = f"clips/{answer.json()['desk']['items'][0]['pair']}.mp4"
    assert ask("GET", f"{server.url}/films/{clip}", cookies=cookies, timeout=60).status_code == 200
    assert exchange("news").status_code == 401
    assert ask("GET", f"{server.url}/news/{clip}", cookies=cookies).status_code == 401
    assert (
        ask("GET", f"{server.url}/news/grade", cookies=cookies).headers["location"].startswith("/news/session/sign-in")
    )
    # Paths that leave one campaign's part of the host.
    host, port = "127.0.0.1", server.port
    for path in (
        *("/news/../films/grade", "/news/%2e%2e/films/grade", "/news//films/grade"),
        *("//films/grade", "/%66ilms/grade", f"{server.url}/films/grade"),
    ):
        with socket.create_connection((host, port), timeout=60) as client, client.makefile("rb") as stream:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: reelrank_session={token}\r\n\r\n".encode())
            assert stream.read()[:13] in (b"HTTP/1.1 303 ", b"HTTP/1.1 404 "), path
    # Two requests in one connection: the second is for the other campaign, and is not answered here.
    with httpx.Client(verify=False) as client:
        client.cookies.update(cookies)
        assert client.get(f"{server.url}/films/session/account").headers["connection"] == "close"
    # A page of one campaign, with the cookie of the other.
    for campaign, opens in (("films", True), ("news", False)):
        opened = False
        try:
            with connect(
                f"{server.url.replace('http', 'ws')}/{campaign}/_stcore/stream",
                additional_headers={"Cookie": f"reelrank_session={token}", "Origin": server.url},
                subprotocols=["streamlit"],  # type: ignore[list-item]
            ):
                opened = True
        except (InvalidStatus, ConnectionClosed):
            pass
        assert opened == opens
    sessions = {"films": session_of(films, LEAD, PASSWORD, now=now), "news": session_of(news, LEAD, PASSWORD, now=now)}
    # A personal token.
    _, secret = create_token(films, lead, PASSWORD, "a script", TokenScope.READ, 1, session=sessions["films"], now=now)
    bearer = {"Authorization": f"Bearer {secret}"}
    found = [
        ask("GET", f"{server.url}/{name}/api/operations/status", headers=bearer).status_code
        for name in ("films", "news")
    ]
    assert found == [200, 401]
    # A job of a lead.
    assert begin_job(films, lead, JobKind.SET_UP, "videos", "Measuring", {}, now=now)
    menus = [
        ask("GET", f"{server.url}/{name}/lead/waiting", headers=page, cookies={"reelrank_session": session})
        .json()["counts"]
        .get("/set-up")
        for name, session in sessions.items()
    ]
    assert menus == ["working", None]
    films.store.close()
    news.store.close()


@pytest.mark.browser
def test_a_person_works_in_both(server: AppServer, open_page: Callable[..., Page], lab: Path) -> None:
    page = open_page()
    page.goto(server.url)
    expect(page).to_have_url(f"{server.url}/campaigns/")
    sign_in(page, BEN, PASSWORD)
    expect(page.get_by_role("heading", name="Your campaigns")).to_be_visible()
    for name, title in (("films", "Old films"), ("news", "The <news>")):
        page.get_by_role("link", name=title).click()
        expect(page).to_have_url(f"{server.url}/{name}/grade")
        press(page, "3")
        saved(page)
        project = open_project(lab / name)
        ben = person_of(project, BEN)
        (given,) = project.store.db.execute(
            "SELECT count(*) FROM judgement WHERE annotator_id = ?", [ben.annotator_id]
        ).fetchone()
        project.store.close()
        assert given == 1, name
        page.goto(f"{server.url}/campaigns/")
    # What a page keeps in the browser until it is sent has the campaign in its name: ids of people repeat.
    page.goto(f"{server.url}/films/grade")
    expect(page.get_by_test_id("desk").or_(page.locator("[data-state]")).first).to_be_attached()
    kept = page.evaluate("Object.keys(localStorage).filter((name) => /^reelrank\\.(unsent|order)/.test(name))")
    assert kept != []
    assert [name for name in kept if not re.match(r"reelrank\.(unsent|order)/(films|news)\.", name)] == []
    page.goto(f"{server.url}/campaigns/")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.goto(f"{server.url}/news/grade")
    expect(page).to_have_url(re.compile(f"^{server.url}/news/session/sign-in"))
