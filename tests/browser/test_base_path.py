"""The app below a path of its host, behind an nginx that keeps the path and one that strips it."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Response, expect

from annotate_app.pages import PAGES
from app_server import AppServer, sign_in
from backend.campaign.corpus.describing.model import DescribingChoice
from backend.campaign.corpus.describing.opening import choose_describing
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import open_project
from hands import downloaded, page_is_done, press, saved
from nginx import running
from support import free_port, have_read

pytestmark = [pytest.mark.long, pytest.mark.browser]
LEAD, (ANA, BEN, *_), PASSWORD = demo_people()
BASE = "/annotate"
EXAMPLE = Path(__file__).parents[2] / "deploy" / "nginx.conf"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path]) -> Iterator[AppServer]:
    """The app over the judged demo, told its path."""
    folder = demo(tmp_path_factory.mktemp("below") / "project", judged=True)
    project = open_project(folder)
    have_read(project)
    ben = next(one.person for one in list_people(project, OPERATOR) if one.person.name == BEN)
    chosen = DescribingChoice(open=True, people=(ben.annotator_id,), videos=("rainy_street",), per_video=3)
    choose_describing(project, OPERATOR, chosen, now=time.time())
    log = tmp_path_factory.mktemp("serve") / "server.log"
    server = AppServer(folder, log, env={**os.environ, "REELRANK_BASE_PATH": BASE})
    server.start()
    yield server
    server.stop()


@pytest.fixture(params=["passes on", "strips"])
def proxy(server: AppServer, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a host that has the app below a path, and nothing else."""
    port = free_port()
    example = EXAMPLE.read_text(encoding="utf-8")
    example = re.sub(r"\n *ssl_certificate.*", "", example)
    for was, now in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port};"),
        ("127.0.0.1:8501", server.url.removeprefix("http://")),
        ("location / {", f"location {BASE}/ {{"),
    ):
        assert example.count(was) == 1, was
        example = example.replace(was, now)
    if request.param == "strips":
        example = re.sub(r"(location /annotate/ \{\s*proxy_pass http://reelrank);", r"\1/;", example)
        assert "http://reelrank/;" in example
        example = re.sub(r"location ~ /session/.*?\}", "", example, flags=re.DOTALL)
    with running(tmp_path, example, port):
        yield f"http://127.0.0.1:{port}"


class Traffic:
    """All answers that a page got."""

    def __init__(self, page: Page) -> None:
        self.answers: list[tuple[int, str]] = []
        page.on("response", self._note)

    def _note(self, response: Response) -> None:
        self.answers.append((response.status, response.url))

    def troubles(self) -> list[tuple[int, str]]:
        """Whatever was asked outside of the path, or was not there."""
        return [
            (status, url)
            for status, url in self.answers
            if url.startswith("http")
            # Streamlit asks below the page first.
            and not re.search(r"/annotate/[\w-]+/_stcore/(health|host-config)$", url)
            # A clip that is loaded ahead may be asked for just after somebody signed out or graded it.
            and not (status in (401, 403) and urlsplit(url).path.startswith(f"{BASE}/clips/"))
            and (status >= 400 or not f"{urlsplit(url).path}/".startswith(f"{BASE}/"))
        ]


def addresses_of(page: Page) -> list[str]:
    """All addresses in a page, those in its components with them."""
    found: list[str] = page.evaluate(
        """() => { const within = (root) => [...root.querySelectorAll("*")].flatMap((one) => [
             ...["href", "src", "action", "data-src"].map((name) => one.getAttribute(name)).filter(Boolean),
             ...(one.shadowRoot ? within(one.shadowRoot) : [])]);
           return within(document); }"""
    )
    return [one for one in found if one.startswith("/") and not one.startswith(f"{BASE}/")]


def test_an_annotator_works_below_a_path(open_page: Callable[..., Page], proxy: str) -> None:
    page = open_page()
    traffic = Traffic(page)
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.goto(f"{proxy}{BASE}")  # nginx adds the slash
    expect(page).to_have_url(f"{proxy}{BASE}/session/sign-in")
    sign_in(page, ANA, PASSWORD)
    expect(page).to_have_url(f"{proxy}{BASE}/grade")
    press(page, "3")
    saved(page)
    assert addresses_of(page) == []
    assert {cookie.get("path") for cookie in page.context.cookies()} == {BASE}
    page.get_by_role("link", name="My work").first.click()
    expect(page).to_have_url(f"{proxy}{BASE}/my-work")
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    page_is_done(page)
    assert addresses_of(page) == []
    page.get_by_role("link", name=re.compile(ANA)).click()
    expect(page).to_have_url(f"{proxy}{BASE}/session/account")
    with page.expect_response(re.compile("/desk/shown")):  # nobody is signed in for one that comes late
        page.get_by_role("link", name="Back to grading").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{proxy}{BASE}/session/sign-in")
    # Somebody else reads the tutorial, and describes a whole video.
    page.goto(f"{proxy}{BASE}/grade?tutorial")
    sign_in(page, BEN, PASSWORD)
    expect(page).to_have_url(f"{proxy}{BASE}/grade?tutorial")
    page_is_done(page)
    page.goto(f"{proxy}{BASE}/describe")
    expect(page.get_by_test_id("describe")).to_have_attribute("data-state", "ready")
    assert addresses_of(page) == []
    assert traffic.troubles() == []
    assert {urlsplit(url).path for url in sockets} == {f"{BASE}/_stcore/stream"}


@pytest.mark.parametrize("proxy", ["strips"], indirect=True)
def test_every_page_of_a_lead_asks_below_the_path(open_page: Callable[..., Page], proxy: str) -> None:
    page = open_page()
    traffic = Traffic(page)
    page.goto(f"{proxy}{BASE}/disagreements?show=escalated")  # as the page was called once
    sign_in(page, LEAD, PASSWORD)
    expect(page).to_have_url(f"{proxy}{BASE}/disputes?show=escalated")
    outside = []
    for address in (one.address for one in PAGES if one.role is Role.LEAD):
        page.goto(f"{proxy}{BASE}/{address}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page_is_done(page)
        outside += [(address, one) for one in addresses_of(page)]
    assert outside == []
    # An invitation is a link to where the lead is.
    page.goto(f"{proxy}{BASE}/people")
    page.get_by_label("Name").fill(f"Zoe at {urlsplit(proxy).port}")  # a port for each kind of proxy
    page.get_by_role("button", name="Add and invite").click()
    link = page.get_by_label("Link for Zoe")
    expect(link).to_have_value(re.compile(f"^{proxy}{BASE}/session/invitation/"))
    newcomer = open_page()
    theirs = Traffic(newcomer)
    newcomer.goto(link.input_value())
    newcomer.get_by_label("Password", exact=True).fill("a long password")
    newcomer.get_by_label("Repeat password").fill("a long password")
    newcomer.get_by_role("button", name="Save and sign in").click()
    expect(newcomer).to_have_url(re.compile(f"^{proxy}{BASE}/grade"))
    # A download button's file.
    page.goto(f"{proxy}{BASE}/activity")
    button = page.get_by_role("button", name="Download as CSV")
    assert downloaded(page, lambda: button.click(timeout=30_000)).path().read_bytes()
    assert traffic.troubles() == theirs.troubles() == []
