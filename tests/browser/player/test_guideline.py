"""The guideline's panel in the player: the project's own examples, and their clips."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from axe import passes_axe
from hands import pair_on_show, press, saved
from player_harness import EXAMPLE_NOTE, EXAMPLE_QUERY, FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
WORDED = {0: "A man parks a car.", 2: "into a white mug"}
IS_PLAYING = "(video) => !video.paused && video.currentTime > 0 && video.muted && video.loop"


def open_panel(page: Page) -> Locator:
    pair_on_show(page)
    page.keyboard.press("g")
    panel = page.get_by_role("dialog", name="How to grade")
    expect(panel).to_be_visible()
    return panel


def row(page: Page, grade: int) -> Locator:
    return page.locator(f"dialog li[data-grade='{grade}']")


def clip_button(page: Page, does: str, grade: int) -> Locator:
    return page.get_by_role("button", name=f"{does} the example of grade {grade}")


def until(page: Page, grade: int, condition: str) -> None:
    page.wait_for_function(condition, arg=row(page, grade).locator("video").element_handle())


def test_without_examples_every_grade_has_one_in_words(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    panel = open_panel(page)
    expect(panel.locator("em")).to_have_count(5)
    expect(panel).to_contain_text("The examples are for the query “A woman pours coffee into a red cup.”")
    expect(panel.locator("video")).to_have_count(0)
    assert desk.examples_asked == []


def test_examples_are_fetched_when_the_panel_opens_and_not_before(desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (1, 3)
    page = open_page()
    press(page, 4)
    saved(page)
    assert desk.examples_asked == []
    panel = open_panel(page)
    for grade in (1, 3):
        # As text: no part of it became a tag.
        expect(row(page, grade)).to_contain_text(f"“{EXAMPLE_QUERY}”{EXAMPLE_NOTE}")
        until(page, grade, IS_PLAYING)
    assert {url for url in desk.examples_asked} == {"examples/1.mp4?v=11", "examples/3.mp4?v=13"}
    for grade, words in WORDED.items():
        expect(row(page, grade).locator("em")).to_contain_text(words)
    expect(panel.locator("em")).to_have_count(3)
    expect(panel).to_contain_text("Clips are examples from this project, each with its query; those in words are for")


@pytest.mark.long
def test_clips_stand_still_while_the_panel_is_closed(desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (0, 1, 2, 3, 4)
    page = open_page()
    panel = open_panel(page)
    expect(panel).to_contain_text("The clips are examples from this project, each with its query")
    until(page, 2, IS_PLAYING)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    until(page, 2, "(video) => video.paused")
    open_panel(page)
    until(page, 2, IS_PLAYING)


def test_a_clip_stops_at_a_key_press_and_stays_so(desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (3, 4)
    page = open_page()
    open_panel(page)
    until(page, 4, IS_PLAYING)
    clip_button(page, "Pause", 4).focus()
    page.keyboard.press("Space")
    until(page, 4, "(video) => video.paused")
    page.keyboard.press("g")
    open_panel(page)
    until(page, 3, IS_PLAYING)
    expect(clip_button(page, "Play", 4)).to_be_visible()
    clip_button(page, "Play", 4).click()
    until(page, 4, IS_PLAYING)
    assert desk.stored == []


@pytest.mark.long
def test_who_asked_for_less_motion_sees_them_still_until_they_press(desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (3,)
    page = open_page()
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    open_panel(page)
    until(page, 3, "(video) => video.readyState >= 2")
    assert page.evaluate("(video) => video.paused", row(page, 3).locator("video").element_handle())
    clip_button(page, "Play", 3).click()
    until(page, 3, IS_PLAYING)


@pytest.mark.long
def test_a_clip_that_is_gone_leaves_the_example_in_words(desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (0, 3)
    desk.missing_examples = {0}
    page = open_page()
    panel = open_panel(page)
    expect(row(page, 0).locator("em")).to_have_text(WORDED[0])
    expect(row(page, 0)).not_to_contain_text(EXAMPLE_NOTE)
    expect(row(page, 0).get_by_role("button")).to_have_count(0)
    expect(panel).to_contain_text("those in words are for the query")
    until(page, 3, IS_PLAYING)


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_with_examples_passes_axe(theme: str, desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (0, 2, 4)
    page = open_page(f"?bare&theme={theme}")
    open_panel(page)
    expect(clip_button(page, "Pause", 4)).to_be_visible()
    passes_axe(page)


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 390, 640, 1280])
def test_nothing_of_it_is_wider_than_the_window(width: int, desk: FakeDesk, open_page: Open) -> None:
    desk.examples = (0, 1, 2, 3, 4)
    page = open_page("?bare", width, 844)
    panel = open_panel(page)
    expect(clip_button(page, "Pause", 4)).to_be_visible()
    assert panel.evaluate("(panel) => panel.scrollWidth <= panel.clientWidth")
    boxes = [part.bounding_box() for part in page.locator("dialog[open] li > *").all()]
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    buttons = [button.bounding_box() for button in panel.get_by_role("button").all()]
    assert len(buttons) == 6
    assert all(box and box["width"] >= 44 and box["height"] >= 44 for box in buttons)
