"""A lead goes through disagreements by keyboard: every act, its undoing, the address, and a reason full of keys."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.media.jobs import THUMBNAIL_WIDTH_PX
from hands import key_until, page_is_done

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, _, _ = demo_people()
REASON = "dont undo: we open a new one, top 3"
"""Every key of the page is in it."""


def acts(server: AppServer) -> list[tuple[str, str, object, str, int]]:
    """What leads did: pair, kind, relevance, reason, whether it stands; in the order of doing."""
    return server.rows(
        "SELECT pair_key, kind, relevance, reason, stands FROM lead_act JOIN pair USING (pair_id) ORDER BY at"
    )


def on_show(page: Page) -> str:
    """The pair of the case."""
    classes = page.locator("[class*='st-key-card-']").get_attribute("class") or ""
    found = re.search(r"st-key-card-([\w-]+)", classes)
    assert found is not None
    return found[1]


def shows(page: Page, pair: str) -> None:
    """The case is on show as a whole: while it is drawn, buttons below it are still those of the case before."""
    expect(page.locator(f".st-key-card-{pair}")).to_be_visible()
    page_is_done(page)


def press_azerty_3(page: Page) -> None:
    """Press the key of the digit 3 on a French keyboard, where it types a quotation mark without Shift."""
    key = {"key": '"', "code": "Digit3", "windowsVirtualKeyCode": 51}
    session = page.context.new_cdp_session(page)
    session.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": '"', **key})
    session.send("Input.dispatchKeyEvent", {"type": "keyUp", **key})


def test_a_lead_goes_through_the_cases_by_keyboard(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/disputes")
    listed = page.locator(".rr-list tr[data-opens]")
    expect(listed.first).to_be_visible()
    first, second = (str(listed.nth(nth).get_attribute("data-opens")) for nth in range(2))
    shows(page, first)
    no_serious_finding(page)

    expect(listed.first.locator("img")).to_have_js_property("naturalWidth", THUMBNAIL_WIDTH_PX)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as GIF").click()
    assert re.search(r"_\d+\.\d\d-\d+\.\d\d\.gif$", saved.value.suggested_filename)
    assert saved.value.path().read_bytes().startswith(b"GIF89a")

    page.keyboard.press("?")
    expect(page.get_by_text("confirm the discard", exact=False).first).to_be_visible()
    page.keyboard.press("Escape")

    # A digit chooses and leads to the reason, in which no letter is a key.
    case = page.locator(f".st-key-card-{first}")
    press_azerty_3(page)
    expect(case.get_by_role("radio", name=re.compile("^3 "))).to_be_checked()
    expect(case.get_by_label("Reason")).to_be_focused()
    page.keyboard.type(REASON)
    expect(case.get_by_label("Reason")).to_have_value(REASON)
    assert (on_show(page), acts(server)) == (first, [])
    page.keyboard.press("Enter")
    shows(page, second)
    expect(page.get_by_text(re.compile("Relevance 3 saved"))).to_be_visible()
    assert acts(server) == [(first, "decided", 3, REASON, 1)]

    # Undone, it is back in the list and on show.
    page.keyboard.press("u")
    shows(page, first)
    assert [act[4] for act in acts(server)] == [0, 0]
    page.keyboard.press("n")
    shows(page, second)
    page.keyboard.press("p")
    shows(page, first)

    # A discard is confirmed with one key, but not while a case is drawn; the re-opening asks for its reason first.
    state = "(app, state) => app.setAttribute('data-test-script-state', state)"
    page.get_by_test_id("stApp").evaluate(state, "running")
    done = acts(server)
    page.keyboard.press("d")
    page.get_by_test_id("stApp").evaluate(state, "notRunning")
    page.keyboard.press("?")  # a key that comes after it has been answered
    expect(page.get_by_text("confirm the discard", exact=False).first).to_be_visible()
    page.keyboard.press("Escape")
    assert (on_show(page), acts(server)) == (first, done)
    page.keyboard.press("d")
    shows(page, second)
    assert acts(server)[-1] == (first, "discard_confirmed", None, "", 1)
    page.keyboard.press("o")
    expect(page.get_by_text("Write a reason, then press Enter")).to_be_visible()
    page_is_done(page)
    page.keyboard.press("w")
    page.keyboard.type("Two readings.")
    page.keyboard.press("Escape")
    key_until(page, "o", page.get_by_text(re.compile("Re-opened for two more annotators")))
    assert acts(server)[-1] == (second, "re_opened", None, "Two readings.", 1)

    # List and case stand in the address: a click on a row, Back, and a reload.
    page.get_by_role("radio", name=re.compile("^Confirmed")).click()
    shows(page, first)
    expect(page).to_have_url(f"{server.url}/disputes?show=confirmed")
    page.get_by_role("radio", name=re.compile("^Escalated")).click()
    row = page.locator(f".rr-list tr[data-opens='{second}']")
    row.click()
    expect(page).to_have_url(f"{server.url}/disputes?show=escalated&case={second}")
    page.reload()
    shows(page, second)
    expect(page.locator(f".st-key-card-{second}")).to_contain_text("a lead re-opened the pair")
    page.go_back()
    page.go_back()
    expect(page.get_by_role("radio", name=re.compile("^Confirmed"))).to_be_checked()
    shows(page, first)
