"""The list of one's last grades: by key or click, back to one of them, and on from where one was."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from axe import passes_axe
from hands import button, pair_on_show, player, press, saved
from player_harness import QUERIES, FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def panel(page: Page) -> Locator:
    return page.get_by_role("dialog", name="Your last grades")


def test_an_older_grade_is_changed_from_the_list_and_work_goes_on(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    for digit in (1, 2, 3):
        press(page, digit)
    saved(page)
    page.keyboard.press("l")
    rows = panel(page).get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("1 grade ago")
    page.keyboard.press("2")  # a list is open, nothing is graded
    panel(page).get_by_role("button", name=f"Change grade 1 for \u201c{QUERIES[0]}\u201d").click()
    expect(panel(page)).to_be_hidden()
    expect(player(page)).to_have_attribute("data-pair", "p001")
    expect(button(page, 1)).to_have_attribute("aria-pressed", "true")
    press(page, 4)
    expect(player(page)).to_have_attribute("data-pair", "p004")
    saved(page)
    assert desk.grades() == {"p001": 4, "p002": 2, "p003": 3}


def test_a_reload_forgets_nothing_of_the_list_and_escape_keeps_a_grade(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    press(page, 1)
    press(page, 2)
    saved(page)
    page.reload()
    pair_on_show(page)
    page.get_by_role("button", name="Your last grades").click()
    panel(page).get_by_role("button", name="Change grade 1").click()
    expect(player(page)).to_have_attribute("data-pair", "p001")
    page.keyboard.press("Escape")
    expect(player(page)).to_have_attribute("data-pair", "p003")
    page.keyboard.press("u")
    expect(player(page)).to_have_attribute("data-pair", "p002")
    assert desk.grades() == {"p001": 1, "p002": 2}


@pytest.mark.long
def test_an_empty_list_and_an_outage_are_said(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    pair_on_show(page)
    page.keyboard.press("l")
    expect(panel(page)).to_contain_text("There is no grade that you can still change.")
    page.keyboard.press("l")
    expect(panel(page)).to_be_hidden()
    desk.answer_with = 503
    page.keyboard.press("l")
    expect(panel(page)).to_contain_text("Your grades cannot be fetched just now.")


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_list_fits_a_phone_and_axe_finds_nothing(desk: FakeDesk, open_page: Open, theme: str) -> None:
    page = open_page(f"?bare&theme={theme}", width=390, height=760)
    for digit in (0, 1, 2, 3, 4):
        press(page, digit)
    saved(page)
    page.keyboard.press("l")
    expect(panel(page).get_by_role("listitem")).to_have_count(5)
    expect(panel(page)).to_be_in_viewport(ratio=1)
    passes_axe(page)


def test_what_is_left_of_the_quotas_stands_beside_the_place(desk: FakeDesk, open_page: Open) -> None:
    desk.quota_today = 50
    page = open_page()
    counts = page.locator(".counts")
    expect(counts).to_have_text("50 of 50 left today \u00b7 1,200 in all")
    desk.quota_today, desk.quota_in_all = 3, 1240
    press(page, 2)
    expect(counts).to_have_text("2 of 3 left today \u00b7 39 of 1,240 left in all")


def test_a_note_moves_nothing(open_page: Open) -> None:
    page = open_page()
    pair_on_show(page)
    before = button(page, 0).bounding_box()
    page.keyboard.press("n")
    expect(page.get_by_label("Note", exact=True)).to_be_focused()
    assert button(page, 0).bounding_box() == before
