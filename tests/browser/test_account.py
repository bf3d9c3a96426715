"""Accounts and the page My work in a real browser: passwords, sessions in two browsers, links, numbers, keys."""

import time
from collections.abc import Callable
from datetime import datetime

import pytest
from playwright.sync_api import Page, Route, expect

from app_server import AppServer, sign_in
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.project.folder import open_project
from hands import pair_on_show, press, saved
from support import have_read

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, PASSWORD = demo_people()
Enter = Callable[..., Page]


def account(page: Page) -> None:
    """To the account, by the name in the header."""
    page.locator("a[href='/session/account']").click()
    expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()


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
    [(in_all, today)] = server.rows(f"SELECT count(*), coalesce(sum(graded_at >= {midnight}), 0) {mine}", ANNOTATORS[0])
    assert in_all >= 3
    for label, count in (("In all", in_all), ("Today", today)):
        metric = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
        expect(metric.get_by_test_id("stMetricValue")).to_have_text(f"{count:,}")
    sql = (
        "SELECT (SELECT count(*) FROM standing s JOIN annotator a USING (annotator_id) WHERE a.name = ? AND grade = g) "
        "FROM (SELECT 4 AS g UNION SELECT 3 UNION SELECT 2 UNION SELECT 1 UNION SELECT 0) ORDER BY g DESC"
    )
    for grade, (times,) in zip((4, 3, 2, 1, 0), server.rows(sql, ANNOTATORS[0]), strict=True):
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
    assert server.rows(f"SELECT count(*) {mine}", ANNOTATORS[0]) == [(in_all,)]


@pytest.mark.long
@pytest.mark.parametrize("ended_by", ["suspension", "signing out everywhere"])
def test_a_session_that_ends_while_a_grade_is_on_its_way_keeps_the_grade(
    enter: Enter, server: AppServer, ended_by: str
) -> None:
    """Who was signed out in mid-grade reads so, loses nothing, and brings the grade after signing in again."""
    name = f"Annotator of the {ended_by}"
    add_person_with_password(open_project(server.project), OPERATOR, name, Role.ANNOTATOR, PASSWORD, now=time.time())
    have_read(open_project(server.project))
    [(number,)] = server.rows("SELECT annotator_id FROM annotator WHERE name = ?", name)
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
    assert server.rows(given, number) == []
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
    assert server.rows(given, number) == [(3, 1)]
