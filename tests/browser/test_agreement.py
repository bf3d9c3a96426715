"""A lead reads the agreement board by keyboard, in light and dark and on a phone, and takes a chart along."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from hands import downloaded, page_is_done

pytestmark = pytest.mark.browser
JUDGED = True
LEAD = demo_people()[0]
SHOWN = {
    "Grades": "Lowest and highest grade",
    "Annotators": "Who agrees with whom",
    "Over time": "Agreement by day",
    "Queries": "Queries with the least agreement come first",
}


def tab_to(page: Page, words: str) -> None:
    """Move the focus until it is on what bears these words."""
    for _ in range(90):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText ?? ''").strip() == words:
            return
    raise AssertionError(f"the keyboard does not reach {words!r}")


def press(page: Page, words: str) -> None:
    """Go to a button and press it."""
    tab_to(page, words)
    page.keyboard.press("Enter")


def test_a_lead_reads_the_board_by_keyboard(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/agreement", viewport={"width": 1280, "height": 900})
    expect(page.get_by_role("heading", name="Agreement")).to_be_visible()
    table = page.locator(".rr-figures").first
    expect(table).to_contain_text("Alpha, ordinal, all rounds")
    # The intervals come from another process, and by themselves.
    expect(table).to_contain_text(" to ")

    chosen = "Figures"
    for part, words in SHOWN.items():
        page_is_done(page)
        tab_to(page, chosen)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Space")
        chosen = part
        expect(page.get_by_text(words).first).to_be_visible()
        if part in ("Grades", "Annotators", "Over time"):
            expect(page.locator("[data-testid=stVegaLiteChart] :is(svg, canvas)").first).to_be_visible()
        no_serious_finding(page)
        if part == "Grades":
            file = downloaded(page, lambda: press(page, "SVG"))
            assert file.suggested_filename == "agreement-lowest-highest.svg"
            assert file.path().read_bytes().startswith(b"<svg")

    # On a phone in the dark.
    phone = {"width": 390, "height": 844}
    narrow = enter(LEAD, url=f"{server.url}/agreement", viewport=phone, color_scheme="dark")
    for part, words in SHOWN.items():
        narrow.get_by_role("radio", name=part).or_(narrow.get_by_role("button", name=part, exact=True)).first.click()
        expect(narrow.get_by_text(words).first).to_be_visible()
        no_serious_finding(narrow)
        main = narrow.get_by_test_id("stMain")
        assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth"), part
