"""What is stuck stands on Progress and in the menu, and goes by itself; a quota that a lead gives reaches the desk."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import passes_axe
from backend.campaign.demo import demo_people
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import Project, open_project
from hands import press, saved, time_passes
from support import grade_all, have_read, person_of

pytestmark = pytest.mark.long

LEAD, (ANA, BEN, *OTHERS), _ = demo_people()
MAIN = "[data-testid=stMain]"
STUCK = "7 pairs are stuck: they need two more annotators for the third and fourth grade."


def prepare(project: Project) -> None:
    """The app over the demo: Ana and Ben disagree about seven pairs, and the others are suspended."""
    have_read(project)
    now = time.time()
    query = list_queries(project, OPERATOR)[0].query_id
    for pair in query_pairs(project, OPERATOR, query)[:7]:
        for name, grade in ((ANA, 0), (BEN, 4)):
            grade_all(project, name, {pair.pair: grade}, now=now)
    suspend_others(project, True)


def suspend_others(project: Project, suspended: bool) -> None:
    """Nobody is left to grade what Ana and Ben disagree about, or the others are back."""
    for name in OTHERS:
        suspend(project, person_of(project, LEAD), person_of(project, name).annotator_id, suspended, now=time.time())


def test_what_is_stuck_is_told_until_somebody_can_grade_it_and_a_quota_ends_the_day(
    enter: Callable[..., Page], server: AppServer
) -> None:
    project = open_project(server.project)
    # Pages look every quarter of a minute; a test need not wait for that.
    lead = enter(LEAD, watch=lambda page: page.clock.install(), url=f"{server.url}/people?part=assignments")
    lead.get_by_text("Assign work").click()
    expect(lead.get_by_role("button", name="Assign", exact=True)).to_be_visible()
    # While the form unfolds, the page scrolls; a list closes when what is around it scrolls.
    expect(lead.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(lead.locator(".st-key-assign details")).not_to_have_attribute("style", re.compile("height"))
    whom = lead.locator(".st-key-assign_who")
    whom.get_by_role("combobox").press_sequentially(BEN)
    lead.get_by_role("option", name=BEN).click()
    expect(whom).to_contain_text(BEN)
    lead.keyboard.press("Escape")
    lead.get_by_label("Grades a day").fill("8")
    lead.keyboard.press("Enter")
    lead.get_by_role("button", name="Assign", exact=True).click()
    expect(lead.get_by_text("Assigned: at most 8 grades a day.")).to_be_visible()
    passes_axe(lead, MAIN)

    ben = enter(BEN)
    press(ben, 3)
    saved(ben)
    expect(ben.get_by_role("heading", name="Enough for today")).to_be_visible()

    # The counts in the menu follow by themselves, under a form that is open and half filled in.
    lead.get_by_role("radio", name="People").click()
    expect(lead.get_by_role("button", name="Pause", exact=True).first).to_be_visible()
    lead.get_by_role("button", name="Pause", exact=True).first.click()
    reason = lead.get_by_label("Why is")
    reason.fill("on holi")
    suspend_others(project, False)
    time_passes(lead, 20, lead.get_by_role("link", name="Progress", exact=True).is_visible)
    expect(reason).to_have_value("on holi")
    expect(reason).to_be_focused()
    suspend_others(project, True)
    stuck = lead.get_by_role("link", name="Progress (7 stuck)")
    # The tab is looked at again, and again: the server does not count anew each time.
    for _ in range(50):
        lead.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        if stuck.is_visible():
            break
        lead.wait_for_timeout(200)
    stuck.click()
    expect(lead.get_by_text(STUCK)).to_be_visible()
    expect(lead.get_by_text("could grade all of them, but are suspended.")).to_be_visible()
    expect(lead.get_by_test_id("stMetric").filter(has_text="Forecast")).to_contain_text("cannot finish")
    passes_axe(lead, MAIN)

    suspend_others(project, False)
    told = lead.get_by_text("can only come from annotators who gave none in the last seven days")
    time_passes(lead, 20, told.is_visible)
    expect(lead.get_by_text(STUCK)).to_have_count(0)
    expect(lead.get_by_role("link", name="stuck")).to_have_count(0)
