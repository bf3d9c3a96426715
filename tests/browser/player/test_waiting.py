"""What an empty desk says, to the eye and to a screen reader."""

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from hands import pair_on_show
from player_harness import FakeDesk

pytestmark = pytest.mark.browser


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
