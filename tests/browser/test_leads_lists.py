"""A lead's lists in a real browser: filters, days and what is open survive reload and Back; stuck pairs are led to."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.campaign.desk.clips import report_clip
from backend.campaign.desk.exchange import desk
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.qualification.exam.setting import set_exam
from backend.campaign.setup.people.accounts import add_person, list_people
from backend.campaign.setup.project.folder import Project, open_project
from support import have_read

JUDGED = True
LEAD, (ANA, *_), _ = demo_people()
REASON = "its index is missing"


def prepare(project: Project) -> None:
    """The judged demo with an exam of many items, more people than a page has, and a clip that cannot be shown."""
    have_read(project)
    people, now = {one.person.name: one.person for one in list_people(project, OPERATOR)}, time.time()
    for n in range(25):
        add_person(project, OPERATOR, f"Newcomer {n}", Role.ANNOTATOR, now=now)
    clip = desk(project, people[ANA], now=now).items[0].pair
    report_clip(project, people[ANA], clip, REASON, now=now)
    set_exam(project, people[LEAD], queries=6, pairs=5, now=now)


@pytest.mark.long
def test_what_a_lead_looks_for_stands_in_the_address_and_stuck_pairs_are_led_to(
    enter: Callable[..., Page], server: AppServer
) -> None:
    # From what waits to the pairs themselves, and from a pair to its query, which says the same.
    page = enter(LEAD, url=f"{server.url}/progress")
    page.get_by_role("link", name="Look at the clips").click()
    expect(page).to_have_url(f"{server.url}/disagreements?show=blocked")
    row = page.locator("[class*=st-key-blocked-]").filter(has_text="not settled").first
    expect(row).to_contain_text(REASON)
    row.get_by_role("link").click()
    expect(page.get_by_text(re.compile(r"is blocked: its clip cannot be shown\. Rank \d+\."))).to_be_visible()
    no_serious_finding(page)

    page.get_by_role("link", name="People").click()
    search = page.get_by_label("Search people")
    rows = page.locator("[class*=st-key-person-]")
    expect(rows).to_have_count(20)
    search.fill("newcomer 2")
    search.press("Enter")
    expect(rows).to_have_count(7)  # 2, 12, 20 to 24
    page.reload()
    expect(rows).to_have_count(7)
    expect(search).to_have_value("newcomer 2")
    page.go_back()
    expect(rows).to_have_count(20)
    no_serious_finding(page)

    page.get_by_role("link", name="Agreement", exact=True).click()
    page.get_by_role("button", name="Which pairs").click()
    graded = agreement_board(open_project(server.project), OPERATOR, resamples=0).days[0].name
    page.get_by_role("spinbutton", name="year, First graded on or after").click()
    page.keyboard.type(graded.replace("-", ""))  # from year to month to day by itself
    days = page.locator("[role=gridcell] [role=button]:not([aria-disabled=true])")
    days.get_by_text(str(int(graded[-2:])), exact=True).click()
    expect(page.get_by_text("first graded from")).to_be_visible()
    expect(page).to_have_url(re.compile(rf"[?&]from={graded}"))
    page.reload()
    expect(page.get_by_text("first graded from")).to_be_visible()

    page.get_by_role("button", name=re.compile("more$")).click()
    page.get_by_role("menuitem", name=re.compile("^Exam")).click()
    page.get_by_role("tab", name="Items").click()
    items = page.get_by_role("table", name="Items").locator("tbody tr")
    expect(items).to_have_count(10)
    expect(items.nth(0)).to_have_attribute("aria-current", "true")
    items.nth(3).click()
    expect(items.nth(3)).to_have_attribute("aria-current", "true")
    expect(page).to_have_url(re.compile(r"[?&]item=\d+"))
    page.reload()
    expect(items.nth(3)).to_have_attribute("aria-current", "true")
    page.go_back()
    expect(items.nth(0)).to_have_attribute("aria-current", "true")
    no_serious_finding(page)
