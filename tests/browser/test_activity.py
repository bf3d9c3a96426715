"""A lead reads who did what, finds the query it was done to, and reads how the campaign is set up; also on a phone."""

import csv
import io
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import passes_axe
from backend.campaign.demo import demo_people
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.status import status_counts
from backend.campaign.setup.project.folder import open_project

pytestmark = pytest.mark.browser
JUDGED = True
LEAD = demo_people()[0]
MAIN = "[data-testid='stMainBlockContainer']"


def test_a_lead_reads_what_happened_and_what_holds(enter: Callable[..., Page], server: AppServer) -> None:
    project = open_project(server.project)
    page = enter(LEAD, url=f"{server.url}/activity")
    rows = page.get_by_role("table", name="Activity").locator("tbody tr")
    newest = find_activity(project, OPERATOR, ActivityFilter(), first=0, most=1)[0]
    expect(rows.first).to_contain_text(newest.words)
    passes_axe(page, MAIN)

    # What is chosen stands in the address, and Back takes it back.
    page.get_by_role("combobox", name="About").click()
    page.get_by_role("option", name="Grades").click()
    expect(rows.first).to_contain_text("graded")
    expect(page).to_have_url(f"{server.url}/activity?about=grades")
    with page.expect_download() as caught:
        page.get_by_role("button", name="Download as CSV").click()
    told = list(csv.DictReader(io.StringIO(caught.value.path().read_text())))
    assert len(told) == status_counts(project, OPERATOR)["judgements"]

    # A row leads to the query by keyboard.
    rows.first.get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Queries", exact=True)).to_be_visible()
    assert "query=" in page.url
    page.go_back()
    expect(rows.first).to_contain_text("graded")

    page.set_viewport_size({"width": 390, "height": 844})
    main = page.get_by_test_id("stMain")
    assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth")
    page.goto(f"{server.url}/settings")
    expect(page.locator(".rr-settings")).to_have_count(6)
    passes_axe(page, MAIN)
    assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth")
    page.get_by_role("link", name="page Gold").click()
    expect(page.get_by_role("heading", name="Gold", exact=True)).to_be_visible()
