"""The page My work in a real browser: its numbers, and keys of the desk that grade nothing there."""

from collections.abc import Callable
from datetime import datetime

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from hands import pair_on_show, press, saved

pytestmark = pytest.mark.browser
_, ANNOTATORS, _ = demo_people()
Enter = Callable[..., Page]


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
