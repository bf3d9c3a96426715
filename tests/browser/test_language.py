"""An annotator who chooses German reads it everywhere: the account, the desk, their work."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people

pytestmark = pytest.mark.browser
_, ANNOTATORS, _ = demo_people()
NARROW = {"width": 390, "height": 844}
WIDE = {"width": 1280, "height": 800}


WITHIN = """button => { const { left, right } = button.getBoundingClientRect();
  return right <= innerWidth + 1 && [...button.children].map((part) => part.getBoundingClientRect())
    .every((part) => part.width === 0 || (part.left >= left - 1 && part.right <= right + 1)); }"""


def nothing_is_cut_off(page: Page) -> None:
    """What stands on a button of the desk lies within it, and the button within the window."""
    buttons = page.get_by_test_id("player").get_by_role("button").locator("visible=true").all()
    assert len(buttons) > 10
    assert [one.inner_text() for one in buttons if not one.evaluate(WITHIN)] == []


@pytest.mark.long
def test_an_annotator_chooses_german(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(ANNOTATORS[0])
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.goto(f"{server.url}/session/account")
    page.get_by_role("button", name="Deutsch").click()
    expect(page.get_by_role("heading", name="Konto", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    no_serious_finding(page)

    page.get_by_role("link", name="Zurück zum Bewerten").click()
    player = page.get_by_test_id("player")
    expect(player).to_have_attribute("data-state", "ready")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_test_id("progress")).to_have_text("1 von 20")
    expect(player.get_by_role("button", name="Diesen Clip überspringen")).to_be_visible()
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        nothing_is_cut_off(page)
    no_serious_finding(page)
    page.keyboard.press("?")
    expect(player.get_by_role("heading", name="Tasten")).to_be_visible()
    expect(player.get_by_text("ein Bild zurück, vor")).to_be_visible()
    page.keyboard.press("Escape")

    page.goto(f"{server.url}/grade?tutorial")
    expect(player.get_by_role("heading", name="Wie bewertet wird")).to_be_visible()
    page.goto(f"{server.url}/my-work")
    expect(page.get_by_role("heading", name="Meine Arbeit")).to_be_visible()
    expect(page.get_by_role("link", name="Bewerten", exact=True)).to_be_visible()
    no_serious_finding(page)
