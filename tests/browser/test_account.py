"""Accounts and the page My work in a real browser: passwords, sessions in two browsers, links, numbers, keys."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from app_server import AppServer, sign_in
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people import sessions
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from backend.core.errors import SignInRefused
from hands import pair_on_show, press, saved
from support import have_read

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, PASSWORD = demo_people()
NEW = "a longer password"
Enter = Callable[..., Page]


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, demo: Callable[..., Path], serve: Callable[[Path], AppServer]
) -> AppServer:
    """The app over the demo project."""
    return serve(demo(tmp_path_factory.mktemp("account") / "project"))


def rows(server: AppServer, sql: str, *values: object) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect(server.project / "reelrank.db")) as db:
        return db.execute(sql, values).fetchall()


def account(page: Page) -> None:
    """To the account, by the name in the header."""
    page.locator("a[href='/session/account']").click()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()


def is_signed_out(page: Page, server: AppServer) -> None:
    page.goto(server.url)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_my_work_shows_what_the_database_holds_and_its_keys_grade_nothing(enter: Enter, server: AppServer) -> None:
    page = enter(ANNOTATORS[0])
    for done in range(3):
        press(page, 4 - done)
    saved(page)
    link = page.get_by_role("link", name="My work")
    menu, desk = link.bounding_box(), page.get_by_test_id("player").bounding_box()
    assert menu is not None
    assert desk is not None
    assert menu["y"] + menu["height"] <= 60 <= desk["y"], "the menu lies in the header, which is there anyway"
    link.click()
    expect(page.get_by_role("heading", name="Exam")).to_be_visible()

    midnight = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    mine = "FROM judgement j JOIN annotator a USING (annotator_id) WHERE a.name = ? AND j.revision = 1"
    [(in_all, today)] = rows(
        server, f"SELECT count(*), coalesce(sum(graded_at >= {midnight}), 0) {mine}", ANNOTATORS[0]
    )
    assert in_all >= 3
    for label, count in (("In all", in_all), ("Today", today)):
        metric = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
        expect(metric.get_by_test_id("stMetricValue")).to_have_text(f"{count:,}")
    sql = (
        "SELECT (SELECT count(*) FROM standing s JOIN annotator a USING (annotator_id) WHERE a.name = ? AND grade = g) "
        "FROM (SELECT 4 AS g UNION SELECT 3 UNION SELECT 2 UNION SELECT 1 UNION SELECT 0) ORDER BY g DESC"
    )
    for grade, (times,) in zip((4, 3, 2, 1, 0), rows(server, sql, ANNOTATORS[0]), strict=True):
        row = page.locator(".rr-spread tr").nth(5 - grade)
        expect(row.locator("td").nth(2)).to_contain_text(f"{times:,} ")
    no_serious_finding(page)

    # The player is gone: its keys are keys again. What a key had graded would wait in the browser or be stored.
    for key in ("4", "0", "s", "u", "g"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Back to grading").click()
    pair_on_show(page)
    saved(page)
    assert rows(server, f"SELECT count(*) {mine}", ANNOTATORS[0]) == [(in_all,)]


@pytest.mark.long
def test_another_password_ends_the_session_in_another_browser_and_signing_out_everywhere_in_both(
    enter: Enter, server: AppServer
) -> None:
    here, elsewhere = enter(ANNOTATORS[1]), enter(ANNOTATORS[1])
    account(here)
    no_serious_finding(here)
    here.get_by_label("Present password").fill("not the password")
    here.get_by_label("New password").fill(NEW)
    here.get_by_label("The same again").fill(NEW)
    here.get_by_role("button", name="Change password").click()
    expect(here.get_by_role("alert")).to_have_text("The present password is wrong.")
    here.get_by_label("Present password").fill(PASSWORD)
    here.get_by_label("New password").fill(NEW)
    here.get_by_label("The same again").fill(NEW)
    here.get_by_role("button", name="Change password").click()
    expect(here.get_by_role("status")).to_contain_text("Your password is changed.")
    here.get_by_role("link", name="Back to grading").click()
    expect(here.get_by_test_id("player")).to_be_visible()
    is_signed_out(elsewhere, server)
    sign_in(elsewhere, ANNOTATORS[1], PASSWORD)
    expect(elsewhere.get_by_role("alert")).to_contain_text("Name or password is wrong")
    sign_in(elsewhere, ANNOTATORS[1], NEW)
    expect(elsewhere.get_by_role("button", name="Sign out")).to_be_visible()

    # Signing out everywhere ends both, and nobody else's.
    lead = enter(LEAD)
    account(here)
    here.get_by_role("button", name="Sign out everywhere").click()
    expect(here.get_by_role("button", name="Sign in")).to_be_visible()
    is_signed_out(elsewhere, server)
    is_signed_out(here, server)
    lead.reload()
    expect(lead.get_by_role("button", name="Sign out")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("ended_by", ["suspension", "signing out everywhere"])
def test_a_session_that_ends_while_a_grade_is_on_its_way_keeps_the_grade(
    enter: Enter, server: AppServer, ended_by: str
) -> None:
    """Who was signed out in mid-grade reads so, loses nothing, and brings the grade after signing in again."""
    name = f"Annotator of the {ended_by}"
    add_person_with_password(open_project(server.project), OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=time.time())
    have_read(open_project(server.project))
    [(number,)] = rows(server, "SELECT annotator_id FROM annotator WHERE name = ?", name)
    given = "SELECT grade, count(*) FROM judgement WHERE annotator_id = ? GROUP BY grade"
    page = enter(name)
    if ended_by == "suspension":
        other = enter(LEAD, url=f"{server.url}/people")
    else:
        other = enter(name, url=f"{server.url}/session/account")
    pair_on_show(page)
    held: list[Route] = []
    ended = False
    page.route("**/desk/exchange", lambda route: route.continue_() if ended else held.append(route))
    with page.expect_request("**/desk/exchange"):
        page.keyboard.press("3")
    expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "1")
    assert held

    suspend = other.locator(f".st-key-suspend-{number} button:visible")
    if ended_by == "suspension":
        suspend.click()
        expect(suspend).to_have_text("Reinstate")
    else:
        other.get_by_role("button", name="Sign out everywhere").click()
        expect(other.get_by_role("button", name="Sign in")).to_be_visible()
    ended = True
    for route in held:
        route.continue_()

    expect(page.get_by_test_id("saving")).to_have_text("signed out: 1 grade kept")
    expect(page.get_by_role("alert")).to_contain_text("You are signed out. Your grades are kept in this browser")
    assert rows(server, given, number) == []
    page.get_by_role("link", name="Sign in again").click()
    if ended_by == "suspension":
        sign_in(page, name, PASSWORD)
        expect(page.get_by_role("alert")).to_contain_text("or the account is not open")
        suspend.click()
        expect(suspend).to_have_text("Suspend")
    sign_in(page, name, PASSWORD)
    expect(page.get_by_test_id("player")).to_be_visible()
    saved(page)
    expect(page.get_by_test_id("saving")).to_have_text("saved")
    assert rows(server, given, number) == [(3, 1)]


@pytest.mark.long
def test_a_forgotten_password_is_replaced_by_a_link_from_the_lead(
    enter: Enter, open_page: Callable[..., Page], server: AppServer
) -> None:
    lead = enter(LEAD, url=f"{server.url}/people")
    [(number,)] = rows(server, "SELECT annotator_id FROM annotator WHERE name = ?", ANNOTATORS[3])
    links = []
    for known in range(2):  # the first is lost on its way
        lead.locator(f".st-key-link-{number} button:visible").click()  # another one, unseen, is for touch screens
        code = lead.get_by_test_id("stCode")
        expect(code).to_contain_text("/session/invitation/")
        if known:
            expect(code).not_to_contain_text(links[0].rsplit("/", 1)[1])
        links.append(code.inner_text().strip())
    page = open_page()
    page.goto(links[0])
    expect(page.get_by_role("alert")).to_contain_text("has been replaced")
    page.goto(links[1])
    page.get_by_label("Password").fill(NEW)
    page.get_by_label("The same again").fill(NEW)
    page.get_by_role("button", name="Save and sign in").click()
    expect(page.get_by_test_id("player")).to_be_visible()
    with pytest.raises(SignInRefused):
        sessions.sign_in(open_project(server.project), ANNOTATORS[3], PASSWORD, now=time.time())
