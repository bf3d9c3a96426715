"""A lead's menu: six doors and the named groups beside them, by keyboard, on a phone, and read by a screen reader."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from annotate_app import language
from annotate_app.pages import GROUPS, PAGES
from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.judging.staffing import pause_person
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import list_people
from backend.campaign.setup.project.folder import Project
from hands import page_is_done
from support import NOW, have_read

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, (ANA, *_), _ = demo_people()
DOORS = [page for page in PAGES if page.role is Role.LEAD and not page.group]
PHONE, LAPTOP, DESKTOP = (
    *({"width": 390, "height": 800}, {"width": 1280, "height": 800}),
    {"width": 1920, "height": 1000},
)
PHONES = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36"
Enter = Callable[..., Page]
CUT = """(text) => {
  for (let one = text; one.tagName !== "BUTTON"; one = one.parentElement)
    if (one.clientWidth && one.scrollWidth > one.clientWidth + 1) return true;
  return false;
}"""
"""Whether a word of a button is cut off, by whatever it stands in."""


def prepare(project: Project) -> None:
    """The judged demo with one paused annotator, who waits for a lead on the page People."""
    have_read(project)
    who = next(one.person for one in list_people(project, OPERATOR, now=NOW) if one.person.name == ANA)
    lead = next(one.person for one in list_people(project, OPERATOR, now=NOW) if one.person.role is Role.LEAD)
    pause_person(project, lead, who.annotator_id, "too fast", now=NOW)


def group(page: Page, name: str) -> Locator:
    """The button of a group in the bar, which may have a count behind its name."""
    return page.get_by_test_id("stTopNavSection").filter(has_text=name)


@pytest.mark.parametrize("screen", [LAPTOP, DESKTOP], ids=["laptop", "desktop"])
def test_six_doors_stand_in_the_bar_and_everything_else_opens_from_it_by_keyboard(
    enter: Enter, server: AppServer, screen: dict[str, int]
) -> None:
    page = enter(LEAD, url=f"{server.url}/progress", viewport=screen)
    page_is_done(page)
    for door in DOORS:
        expect(page.get_by_test_id("stTopNavLink").filter(has_text=door.title)).to_be_in_viewport(ratio=1)
    doors = page.get_by_test_id("stTopNavLink").filter(visible=True)
    expect(doors).to_have_count(6)
    for name, pages in GROUPS.items():
        expect(group(page, name)).to_be_in_viewport(ratio=1)
        group(page, name).focus()
        page.keyboard.press("Enter")
        items = page.get_by_role("menu", name=name).get_by_role("menuitem")
        expect(items).to_contain_text([one.title for one in pages])
        expect(items.first).to_be_focused()
        page.keyboard.press("End")
        expect(items.last).to_be_focused()
        page.keyboard.press("Escape")
        expect(items).to_have_count(0)
        expect(group(page, name)).to_be_focused()


def test_german_has_room_on_a_laptop(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, own=True, url=f"{server.url}/people", viewport=LAPTOP)
    page.context.add_cookies([{"name": language.COOKIE, "value": "de", "url": server.url}])
    page.reload()
    page_is_done(page)
    last = page.get_by_test_id("stTopNavSection").filter(visible=True).last
    expect(last).to_contain_text("Projekt")
    expect(page.get_by_test_id("stTopNavSection").filter(has_text="Team").locator("[data-count]")).to_have_count(1)
    place, account = last.bounding_box(), page.locator(".rr-account").bounding_box()
    assert place
    assert account
    assert place["x"] + place["width"] <= account["x"], "the menu ends before the account"
    words = page.locator("[class*=st-key-person-] button p").all()
    assert words
    assert [one.inner_text() for one in words if one.evaluate(CUT)] == []


def test_a_group_counts_what_waits_on_its_pages_and_is_marked_while_one_of_them_is_open(
    enter: Enter, server: AppServer
) -> None:
    page = enter(LEAD, url=f"{server.url}/progress", viewport=LAPTOP)
    expect(page.get_by_role("button", name="Team (1)", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Training", exact=True)).to_be_visible()
    expect(group(page, "Team")).not_to_have_attribute("aria-current", "true")
    group(page, "Team").press("ArrowDown")
    expect(page.get_by_role("menuitem", name="People (1)", exact=True)).to_be_focused()
    no_serious_finding(page)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{server.url}/people")
    expect(page.get_by_role("heading", level=1, name="People")).to_be_visible()
    expect(group(page, "Team")).to_have_attribute("aria-current", "true")
    page.get_by_test_id("stTopNavLink").filter(has_text="Release").click()
    expect(page.get_by_role("heading", level=1, name="Release")).to_be_visible()
    expect(group(page, "Team")).not_to_have_attribute("aria-current", "true")


def test_on_a_phone_the_drawer_has_the_groups_and_folds_them_by_keyboard(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/progress", viewport=PHONE, user_agent=PHONES)
    page_is_done(page)
    opener = page.get_by_test_id("stExpandSidebarButton")
    opener.focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_test_id("stSidebarNav")
    links = drawer.get_by_role("link")
    expect(links.first).to_be_in_viewport()
    team = drawer.get_by_role("group", name="Team")
    expect(team.get_by_role("link", name="People (1)")).to_be_visible()
    no_serious_finding(page)
    fold = team.get_by_role("button", name="Team")
    fold.focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(team.get_by_role("link")).to_have_count(0)
    page.keyboard.press(" ")
    expect(fold).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(team.get_by_role("link", name="People")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="People")).to_be_visible()
    expect(links.first).not_to_be_in_viewport()


def test_an_old_bookmark_opens_what_it_showed(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/disagreements?show=discarded", viewport=LAPTOP)
    expect(page).to_have_url(re.compile(rf"^{server.url}/disputes\?show=discarded"))
    expect(page.get_by_role("heading", level=1, name="Disputes")).to_be_visible()
    page.goto(f"{server.url}/descriptions?show=accepted")
    expect(page).to_have_url(f"{server.url}/captions?part=descriptions&show=accepted")
    expect(page.get_by_role("radio", name="Accepted")).to_be_checked()
    page.get_by_role("radio", name="Rewrites").click()
    expect(page.get_by_text("Rewriting is closed")).to_be_visible()
    expect(page).to_have_url(f"{server.url}/captions")


def test_a_letter_in_an_open_menu_is_no_shortcut_of_the_page_behind_it(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/disputes", viewport=LAPTOP)
    expect(page.get_by_text("1 of 2")).to_be_visible()
    group(page, "Data").press("Enter")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menuitem")).to_have_count(0)
    page.get_by_text("Hide names").click()  # it reaches the server after what the letter may have asked for
    expect(page.get_by_role("checkbox", name="Hide names")).to_be_checked()
    page_is_done(page)
    expect(page.get_by_text("1 of 2")).to_be_visible()
