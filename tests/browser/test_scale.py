"""A campaign of three grades on the real server: buttons, keys, guideline, My work, and what a lead decides by."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from backend.campaign.demo import demo_people
from backend.campaign.setup.project.folder import Project
from hands import pair_on_show, player, press, saved

pytestmark = [pytest.mark.long, pytest.mark.browser]
_, ANNOTATORS, _ = demo_people()
LABELS = ("No", "Partly", "Yes")


def prepare(project: Project) -> None:
    """The app over the demo, whose scale was another one before anybody graded."""
    with closing(sqlite3.connect(project.folder / "reelrank.db")) as db, db:
        db.execute("DELETE FROM scale WHERE grade > 2")
        for grade, label in enumerate(LABELS):
            db.execute(
                "UPDATE scale SET label = ?, meaning = ?, detail = ?, example = '' WHERE grade = ?",
                [label, f"It is {label.lower()}", f"Say {label} when it is", grade],
            )


def test_the_desk_has_the_campaigns_grades_and_no_others(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(ANNOTATORS[0])
    pair = pair_on_show(page)
    tiles = player(page).get_by_role("group", name="Grade").get_by_role("button")
    expect(tiles).to_have_count(3)
    assert [tile.get_attribute("aria-keyshortcuts") for tile in tiles.all()] == ["0", "1", "2"]
    assert [tile.get_attribute("aria-label") for tile in tiles.all()] == [
        f"Grade {grade}, {label}: It is {label.lower()}" for grade, label in enumerate(LABELS)
    ]
    expect(player(page).locator(".hints")).to_contain_text("0-2 grade")
    boxes = [tile.bounding_box() for tile in tiles.all()]
    assert len({round(box["width"]) for box in boxes if box}) == 1, "columns of one width"
    assert len({round(box["y"]) for box in boxes if box}) == 1, "in one row"

    page.keyboard.press("g")
    panel = page.get_by_role("dialog", name="How to grade")
    expect(panel).to_contain_text("Then choose one of three grades")
    expect(panel.locator(".meanings li")).to_have_count(3)
    expect(panel).to_contain_text("Say Yes when it is")
    expect(panel).not_to_contain_text("e.g.")
    expect(panel).not_to_contain_text("The examples are")
    page.keyboard.press("Escape")

    page.keyboard.press("3")  # no grade of this campaign
    assert press(page, 2) == pair
    saved(page)
    assert server.rows("SELECT p.pair_key, j.grade FROM judgement j JOIN pair p USING (pair_id)") == [(pair, 2)]

    page.get_by_role("link", name="My work").click()
    expect(page.get_by_text("How your grades spread")).to_be_visible()
    spread = page.locator(".rr-spread tr")
    expect(spread).to_have_count(4)  # with the head
    assert [re.sub(r"\s+", " ", row.inner_text()) for row in spread.all()][1:] == [
        "2 yes 1 100%",
        "1 partly 0 0%",
        "0 no 0 0%",
    ]
