"""What an empty desk says, to the eye and to a screen reader."""

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from hands import pair_on_show, press, saved
from player_harness import FakeDesk

pytestmark = [pytest.mark.long, pytest.mark.browser]


@pytest.fixture
def desk(desk: FakeDesk) -> FakeDesk:
    """A desk with one clip."""
    desk.total = 1
    return desk


def test_one_moment_is_over_when_the_last_grade_is_saved(desk: FakeDesk, address: str, context: BrowserContext) -> None:
    """As when a screen reader still said that grades were being saved while the page said that all was done."""
    held: list[Route] = []
    page = context.new_page()
    page.goto(address)
    page.route("**/desk/exchange", lambda route: held.append(route))
    spoken = page.locator("[data-said='item']")
    pair_on_show(page)
    page.keyboard.press("3")
    expect(page.get_by_role("heading", name="One moment")).to_be_visible()
    expect(spoken).to_contain_text("One moment. Your last grades are being saved")
    for route in held:
        route.continue_()
    page.unroute("**/desk/exchange")
    expect(page.get_by_role("heading", name="You are finished")).to_be_visible()
    expect(spoken).to_have_text("You are finished. You have graded everything there is for you. Thank you.")
    expect(page.get_by_text("One moment")).to_have_count(0)


def test_grades_are_said_to_be_saved_only_while_some_are(desk: FakeDesk, address: str, context: BrowserContext) -> None:
    """As when the last clip was broken: nothing had been graded, and the page said that grades were being saved."""
    held: list[Route] = []
    page = context.new_page()
    desk.garbage.add("p001")
    page.route("**/desk/broken", lambda route: held.append(route))
    page.goto(address)
    expect(page.get_by_role("heading", name="One moment")).to_be_visible()
    expect(page.locator(".empty p")).to_have_text("Fetching your clips.")
    for route in held:
        route.continue_()
    page.unroute("**/desk/broken")
    expect(page.get_by_role("heading", name="You are finished")).to_be_visible()


def test_who_is_paused_is_told_so_and_keeps_what_they_did(
    desk: FakeDesk, address: str, context: BrowserContext
) -> None:
    desk.total = 3
    page = context.new_page()
    page.goto(address)
    press(page, 3)
    saved(page)
    desk.paused = True
    pair_on_show(page)
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Your work is paused")).to_be_visible()
    expect(page.locator("[data-said='item']")).to_contain_text("All your work is saved.")
    assert desk.grades() == {"p001": 3, "p002": 2}, "what was on its way is kept"
    expect(page.locator(".empty [data-do='undo']")).to_be_hidden()
    for key in ("u", "4"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Read the guideline").click()
    expect(page.get_by_role("heading", name="How to grade")).to_be_visible()
    assert len(desk.stored) == 2


def test_who_was_paused_goes_on_by_itself(desk: FakeDesk, address: str, context: BrowserContext) -> None:
    desk.paused = True
    page = context.new_page()
    page.clock.install()
    page.goto(address)
    expect(page.get_by_role("heading", name="Your work is paused")).to_be_visible()
    desk.paused = False
    page.clock.run_for(16_000)
    expect(page.get_by_test_id("query")).to_be_visible()
    expect(page.get_by_role("button", name="Read the guideline")).to_be_hidden()
