"""Guessing passwords over HTTP, with a clock of our own: it slows the guesser down and locks nobody out."""

import re
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from annotate_app.session import request_limits
from annotate_app.session.request_limits import MOST_CHECKS, MOST_WAITING, FairChecks, TooMuch
from annotate_app.session.routes import Sessions
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import knows_browser, person_for
from backend.campaign.setup.project.folder import Project
from support import NOW, Judging

PASSWORD, NEWER = "long enough for Ana", "another one for Ana"


@dataclass
class Server:
    """A server whose clock stands until a test moves it; what is held back is noted and not waited for."""

    project: Project
    clock: list[float] = field(default_factory=lambda: [NOW])
    held: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        async def sleep(seconds: float) -> None:
            self.held.append(seconds)

        routes = Sessions(lambda: self.project, lambda: self.clock[0], sleep).routes()
        self.app = Starlette(routes=routes)

    def browser(self, address: str) -> TestClient:
        return TestClient(self.app, base_url="http://testserver", client=(address, 5), follow_redirects=False)


def post(browser: TestClient, path: str, page: str, **fields: str) -> Any:
    token = re.search(r'name="csrf" value="([^"]+)"', browser.get(page).text)
    assert token
    return browser.post(path, data={"csrf": token[1], **fields})


def sign_in(browser: TestClient, name: str, password: str) -> Any:
    browser.cookies.delete("reelrank_session")
    return post(browser, "/session/sign-in", "/session/sign-in", name=name, password=password)


@pytest.fixture
def server(judging: Judging) -> Server:
    add_person_with_password(judging.project, OPERATOR, "Ana", Role.ANNOTATOR, PASSWORD, now=NOW)
    return Server(judging.project)


def test_a_guesser_waits_longer_each_time_and_a_success_ends_it(server: Server) -> None:
    browser = server.browser("10.0.0.1")
    for wait in (0, 0, 0, 1, 2, 4):
        if wait:
            refused = sign_in(browser, "Ana", PASSWORD)
            assert (refused.status_code, refused.headers["retry-after"]) == (429, str(wait))
            assert f"Try again in {wait} second" in refused.text
        server.clock[0] += wait
        assert sign_in(browser, "Ana", "wrong").status_code == 401
    server.clock[0] += 8
    assert sign_in(browser, "Ana", PASSWORD).status_code == 303
    assert [sign_in(browser, "Ana", "wrong").status_code for _ in range(4)] == [401, 401, 401, 429]


@pytest.mark.long
def test_nobody_locks_a_person_out(server: Server) -> None:
    """As eight wrong passwords did for everybody, and forty for all behind one address."""
    known = server.browser("10.0.0.1")
    assert sign_in(known, "Ana", PASSWORD).status_code == 303
    for n in range(60):
        sign_in(server.browser(f"10.0.1.{n}"), "Ana", "guess")
        sign_in(server.browser("10.0.0.1"), "Ana", "guess")
        sign_in(server.browser("10.0.0.1"), f"somebody {n}", "guess")
    server.held.clear()
    for spelled in ("Ana", " aNA "):
        assert sign_in(known, spelled, PASSWORD).status_code == 303
    assert server.held == [], "a known browser is not even held back"
    assert sign_in(server.browser("10.0.2.1"), "Ana", PASSWORD).status_code == 303
    assert server.held == [10.0], "an unknown one is, for seconds"


def test_names_that_nobody_has_are_slowed_down_alike(server: Server) -> None:
    def course(name: str) -> list[tuple[int, str | None]]:
        found = []
        for n in range(30):
            server.clock[0] += n % 4
            answer = sign_in(server.browser(f"10.0.{name == 'Ana'}.{n % 2}"), name, "guess")
            found.append((answer.status_code, answer.headers.get("retry-after")))
        return found

    ana = course("Ana"), list(server.held)
    server.held.clear()
    assert (course("Nobody"), server.held) == ana


def test_a_known_browser_grants_nothing_and_can_be_voided(server: Server) -> None:
    browser = server.browser("10.0.0.1")
    answer = sign_in(browser, "Ana", PASSWORD)
    cookie = next(one for one in answer.headers.get_list("set-cookie") if one.startswith("reelrank_browser="))
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
    token = browser.cookies["reelrank_browser"]
    stored = server.project.store.db.conn.execute("SELECT browser_hash FROM known_browser").fetchall()
    assert len(stored) == 1
    assert token not in str(tuple(stored[0]))
    assert person_for(server.project, token, now=NOW) is None
    assert knows_browser(server.project, "Ana", token, now=NOW)
    assert not knows_browser(server.project, "Anna", token, now=NOW)
    assert not knows_browser(server.project, "Ana", token, now=NOW + 181 * 86_400)
    changed = {"old": PASSWORD, "password": NEWER, "again": NEWER}
    assert post(browser, "/session/password", "/session/account", **changed).status_code == 303
    assert not knows_browser(server.project, "Ana", token, now=NOW)
    newer = browser.cookies["reelrank_browser"]
    assert knows_browser(server.project, "Ana", newer, now=NOW), "where it was changed"
    post(browser, "/session/sign-out-everywhere", "/session/account")
    assert not knows_browser(server.project, "Ana", newer, now=NOW)


def test_a_cookie_that_was_brought_along_is_not_taken_over(server: Server) -> None:
    browser = server.browser("10.0.0.1")
    browser.cookies.set("reelrank_browser", "planted")
    sign_in(browser, "Ana", PASSWORD)
    assert not knows_browser(server.project, "Ana", "planted", now=NOW)


def test_two_people_of_one_computer_both_keep_it_known(server: Server) -> None:
    add_person_with_password(server.project, OPERATOR, "Bob", Role.ANNOTATOR, PASSWORD, now=NOW)
    browser = server.browser("10.0.0.1")
    for name in ("Ana", "Bob"):
        assert sign_in(browser, name, PASSWORD).status_code == 303
    jar = [cookie.value for cookie in browser.cookies.jar if cookie.name == "reelrank_browser"]
    assert [knows_browser(server.project, name, str(jar[-1]), now=NOW) for name in ("Ana", "Bob")] == [True, True]


@pytest.mark.anyio
async def test_checks_are_few_at_a_time_and_fair_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    gates = [anyio.Event() for _ in range(20)]
    began: list[str] = []

    async def run_sync(check: Any) -> Any:
        began.append(check())
        await gates[len(began) - 1].wait()

    monkeypatch.setattr(request_limits.anyio.to_thread, "run_sync", run_sync)
    checks = FairChecks()
    async with anyio.create_task_group() as group:
        for n in range(8):
            group.start_soon(checks.check, "flood", lambda n=n: f"flood {n}")
        await anyio.wait_all_tasks_blocked()
        group.start_soon(checks.check, "ana", lambda: "ana")
        await anyio.wait_all_tasks_blocked()
        assert began == ["flood 0", "flood 1"]
        assert len(began) == MOST_CHECKS
        for gate in gates:
            gate.set()
    assert began.index("ana") <= 3
    assert len(began) == 9


def test_one_address_has_so_many_attempts_under_way() -> None:
    checks = FairChecks()
    held = [checks.under_way("flood") for _ in range(MOST_WAITING)]
    for one in held:
        one.__enter__()
    with pytest.raises(TooMuch, match="Try again in 10 seconds"), checks.under_way("flood"):
        pass
    with checks.under_way("ana"):
        pass
    for one in held:
        one.__exit__(None, None, None)
    with checks.under_way("flood"):
        pass
