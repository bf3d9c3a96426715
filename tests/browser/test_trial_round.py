"""A calibration round in real browsers: begun by a lead, taken with a note from the keyboard, and read by the lead."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from hands import pair_on_show, press, saved

pytestmark = pytest.mark.browser
LEAD, ANNOTATORS, _ = demo_people()
NOTE = "Is <b>that</b> *a* cup :smile: -> 3?"
Enter = Callable[..., Page]


def test_a_trial_round_is_taken_before_work_and_read_by_the_lead(enter: Enter, server: AppServer) -> None:
    lead = enter(LEAD, url=f"{server.url}/calibration")
    lead.get_by_text("Start a calibration round", exact=True).click()
    lead.get_by_label("Pairs per query", exact=True).fill("2")
    lead.locator(".st-key-trial_count").get_by_label("Queries").fill("1")
    lead.get_by_role("button", name="Start calibration round").click()
    expect(lead.get_by_text("Calibration round started: 2 pairs of 1 query.")).to_be_visible()

    page = enter(ANNOTATORS[2])
    expect(page.get_by_role("heading", name="A calibration round comes first")).to_be_visible()
    page.keyboard.press("Enter")
    pair_on_show(page)
    expect(page.get_by_test_id("progress")).to_have_text("Calibration round, 1 of 2")
    page.keyboard.press("s")
    expect(page.get_by_text("The calibration round has no skip")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.type(NOTE)
    page.keyboard.press("Enter")
    press(page, 4)
    press(page, 0)
    expect(page.get_by_role("heading", name="All clips of the calibration round have a grade")).to_be_visible()
    page.keyboard.press("u")
    page.keyboard.press("u")
    expect(page.get_by_label("Note", exact=True)).to_have_value(NOTE)
    page.keyboard.press("Escape")
    saved(page)
    page.keyboard.press("Enter")
    pair_on_show(page)
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^1 of \d+$"))  # work, no trial any more

    lead.reload()
    expect(lead.get_by_role("cell", name=NOTE)).to_be_visible()
    expect(lead.get_by_role("row", name=f"{ANNOTATORS[2]} 2 of 2 yes")).to_be_visible()
    no_serious_finding(lead)
    lead.get_by_role("button", name="End calibration round").click()
    expect(lead.get_by_text("Calibration round ended.")).to_be_visible()
