"""The storyboard below a whole video: it comes and goes with its clip, and leads to where its frames are from."""

import re
from collections.abc import Callable

import cv2
import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from axe import passes_axe
from hands import pair_on_show, player, press
from player_harness import FakeDesk

pytestmark = [pytest.mark.long, pytest.mark.browser]
Open = Callable[..., Page]


def picture(shade: int) -> bytes:
    """Eight frames side by side."""
    return bytes(cv2.imencode(".png", np.full((135, 8 * 240, 3), shade, np.uint8))[1])


def board(page: Page) -> Locator:
    return page.locator(".board")


def shows(page: Page, pair: str) -> None:
    """All frames are of this pair's storyboard, each another part of it."""
    parts = board(page).get_by_role("button")
    expect(parts).to_have_count(8)
    places = []
    for part in parts.all():
        expect(part).to_have_css("background-image", re.compile(rf"/clips/{pair}\.webp"))
        places.append(part.evaluate("(part) => getComputedStyle(part).backgroundPositionX"))
    shares = [float(place.removesuffix("%")) for place in places]
    assert shares == pytest.approx([100 * n / 7 for n in range(8)], abs=0.01)


def test_only_a_whole_video_has_one_and_it_is_always_its_own(desk: FakeDesk, open_page: Open) -> None:
    desk.whole = {"p002", "p003"}
    desk.boards = {"p002": picture(40), "p003": picture(200)}
    page = open_page()
    pair_on_show(page)
    expect(board(page)).to_be_hidden()
    expect(page.get_by_role("button", name=re.compile("^Context"))).to_be_visible()
    press(page, 1)
    shows(page, "p002")
    expect(page.get_by_role("button", name=re.compile("^Context"))).to_be_hidden()
    press(page, 1)
    shows(page, "p003")
    passes_axe(page)
    press(page, 1)
    expect(board(page)).to_be_hidden()
    page.keyboard.press("u")
    shows(page, "p003")


def test_a_frame_leads_to_where_it_is_from_and_the_one_on_screen_is_marked(desk: FakeDesk, open_page: Open) -> None:
    desk.whole, desk.boards = {"p001"}, {"p001": picture(90)}
    page = open_page()
    pair_on_show(page)
    shows(page, "p001")
    page.keyboard.press("Space")
    video = page.locator("video[data-active='true']")
    for nth in (6, 2, 0, 7):
        part = board(page).get_by_role("button").nth(nth)
        part.click()
        expect(part).to_have_attribute("aria-current", "true")
        expect(page.locator(".part[aria-current]")).to_have_count(1)
        assert video.evaluate("(video) => video.currentTime / video.duration") == pytest.approx(nth / 8, abs=0.02)
    expect(video).to_have_js_property("paused", True)
    page.keyboard.press("Space")  # the press left no focus that would take the key
    expect(video).to_have_js_property("paused", False)


def test_the_times_on_it_are_those_of_a_long_video(
    desk: FakeDesk, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.whole, desk.boards = {"p001"}, {"p001": picture(90)}
    item = desk.item
    monkeypatch.setattr(desk, "item", lambda *given: item(*given) | {"duration_s": 139.4})
    page = open_page()
    # By hand: 139.4 s in eighths of 17.425 s, rounded down to seconds.
    expect(board(page).locator("time")).to_have_text(["0:00", "0:17", "0:34", "0:52", "1:09", "1:27", "1:44", "2:01"])


def test_one_that_cannot_be_had_leaves_no_gap_and_blames_no_clip(desk: FakeDesk, open_page: Open) -> None:
    desk.whole = {"p001"}
    page = open_page()
    pair_on_show(page)
    expect(board(page)).to_be_hidden()
    assert press(page, 1) == "p001"
    assert desk.reports == []


@pytest.mark.parametrize(("width", "height", "rows"), [(1280, 720, 1), (390, 844, 2), (1024, 600, 1)])
def test_everything_is_in_view_at_once(desk: FakeDesk, open_page: Open, width: int, height: int, rows: int) -> None:
    desk.whole, desk.boards = {"p001"}, {"p001": picture(90)}
    page = open_page("?bare", width, height)
    pair_on_show(page)
    shows(page, "p001")
    tops = {round(box["y"]) for part in board(page).get_by_role("button").all() if (box := part.bounding_box())}
    assert len(tops) == rows
    stage, tiles = page.locator(".stage").bounding_box(), page.locator(".grades").bounding_box()
    assert stage is not None
    assert tiles is not None
    assert stage["height"] >= 130
    assert tiles["y"] + tiles["height"] <= height
    box = board(page).bounding_box()
    assert box is not None
    assert stage["y"] + stage["height"] <= box["y"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    expect(player(page)).to_be_visible()
