"""Results appear beside their button and stay; edits that nobody saved ask before they are lost."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from hands import key_until, page_is_done

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, _, PASSWORD = demo_people()
Enter = Callable[..., Page]


def answer(page: Page, yes: bool) -> list[str]:
    """Answer every question of the browser; the list fills with their kinds."""
    asked: list[str] = []

    def told(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept() if yes else dialog.dismiss()

    page.on("dialog", told)
    return asked


def in_view(found: Locator) -> None:
    expect(found).to_be_in_viewport()


def test_leaving_the_guideline_asks_while_edits_are_unsaved(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/guideline")
    label = page.get_by_label("Label").first
    expect(label).to_be_visible()
    page_is_done(page)
    asked = answer(page, yes=False)
    label.fill("All of it")  # not sent to the server yet
    page.get_by_role("link", name=re.compile("^Progress")).first.click()
    expect(label).to_have_value("All of it")
    label.press("Tab")
    page_is_done(page)
    page.get_by_role("link", name=re.compile("^Progress")).first.click()
    page.evaluate("document.title")  # a question is over when the page answers
    assert asked == ["confirm", "confirm"]

    page.get_by_label("Reason for the change").fill("Shorter")
    page.get_by_label("Reason for the change").press("Tab")
    page_is_done(page)
    page.get_by_role("button", name=re.compile("Save as version")).click()
    result = page.get_by_text(re.compile(r"Version \d saved; 1 text changed\."))
    in_view(result)
    no_serious_finding(page)
    page.get_by_role("tab", name="Versions").click()
    page.get_by_role("tab", name="Words").click()
    expect(result).to_be_visible()  # until it is dismissed
    page.get_by_role("button", name="Dismiss").click()
    expect(result).to_be_hidden()
    page.get_by_role("link", name=re.compile("^Progress")).first.click()
    expect(page.get_by_role("heading", name="Progress")).to_be_visible()
    assert asked == ["confirm", "confirm"], "what is saved asks nothing"


def test_leaving_the_settings_asks_while_edits_are_unsaved(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/settings")
    name = page.get_by_role("textbox", name="Name of the project")
    expect(name).to_be_visible()
    page_is_done(page)
    before = name.input_value()
    asked = answer(page, yes=False)
    name.fill("Another name")
    page.get_by_role("link", name=re.compile("^Progress")).first.click()
    expect(name).to_have_value("Another name")
    page.get_by_role("button", name="Save settings").click()
    in_view(page.get_by_text("Saved and in force: Name of the project."))
    name.fill(before)
    page.get_by_role("button", name="Save settings").click()
    expect(name).to_have_value(before)
    page_is_done(page)
    page.get_by_role("link", name=re.compile("^Progress")).first.click()
    expect(page.get_by_role("heading", name="Progress")).to_be_visible()
    assert asked == ["confirm"], "what is saved asks nothing"


CONTRAST = """(box) => {
  const shown = (colour) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    for (const one of colour) { canvas.fillStyle = one; canvas.fillRect(0, 0, 1, 1); }
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const back = getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor;
  const sides = [shown([back]), shown([back, getComputedStyle(box).borderTopColor])].sort((a, b) => a - b);
  return (sides[1] + 0.05) / (sides[0] + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_border_of_an_empty_circle_or_box_is_seen(enter: Enter, server: AppServer, scheme: str) -> None:
    page = enter(LEAD, url=f"{server.url}/exam", color_scheme=scheme)
    empty = "label:not([data-selected]) > span + div"
    for where in (f"[data-testid=stRadio] {empty} > div:first-child", f"[data-testid=stCheckbox] {empty}"):
        border = page.locator(where).first
        expect(border).to_have_css("border-top-width", "1px")
        assert border.evaluate(CONTRAST) >= 3, where


def test_enter_re_opens_after_o_and_the_result_is_in_view(enter: Enter, server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/disputes?show=discarded")
    page.set_viewport_size({"width": 1280, "height": 600})
    expect(page.get_by_role("button", name="Re-open for two more")).to_be_visible()
    page_is_done(page)
    key_until(page, "o", page.get_by_text("Write a reason, then press Enter"))
    expect(page.get_by_role("button", name="Adjudicate")).to_have_count(0)
    page.keyboard.press("w")
    page.keyboard.type("Two readings.")
    page.keyboard.press("Enter")
    result = page.get_by_text(re.compile("Re-opened for two more annotators: “"))
    in_view(result)
    assert server.rows("SELECT kind, reason FROM lead_act WHERE reason = 'Two readings.'") == [
        ("re_opened", "Two readings.")
    ]
    page.get_by_role("button", name="Dismiss").click()
    expect(result).to_be_hidden()
