"""The page My work in a real browser: its numbers, and keys of the desk that grade nothing there."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from hands import pair_on_show, press, saved

pytestmark = pytest.mark.browser
_, ANNOTATORS, _ = demo_people()
Enter = Callable[..., Page]


def test_my_work_stands_in_the_menu_and_keys_of_the_desk_grade_nothing_there(enter: Enter, server: AppServer) -> None:
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

    metric = page.get_by_test_id("stMetric").filter(has=page.get_by_text("In all", exact=True))
    expect(metric.get_by_test_id("stMetricValue")).to_have_text("3")
    no_serious_finding(page)

    # The player is gone: its keys are keys again. What a key had graded would wait in the browser or be stored.
    for key in ("4", "0", "s", "u", "g"):
        page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Back to grading").click()
    pair_on_show(page)
    saved(page)
    assert server.rows("SELECT count(*) FROM judgement") == [(3,)]
