"""A note with a grade in the player: by one key, silent while it is written, kept through outages, sent once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from axe import passes_axe
from hands import button, pair_on_show, player, press, saved
from player_harness import FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
HOSTILE = "<img src=x onerror=alert(1)> *a* :smile: \"q\" 'p' 👩‍👧"


def field(page: Page) -> Locator:
    return page.get_by_label("Note", exact=True)


def write(page: Page, text: str) -> None:
    """Open the field by its key and write; it stays the field's as long as nobody leaves it."""
    pair_on_show(page)
    page.keyboard.press("n")
    expect(field(page)).to_be_focused()
    page.keyboard.type(text)


def test_a_note_is_written_without_a_mouse_and_goes_with_the_grade(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    expect(field(page)).to_be_hidden()
    write(page, "Is 3 g?")
    page.keyboard.press("ArrowLeft")
    expect(player(page)).to_have_attribute("data-pair", "p001")
    assert desk.arrivals == [], "what is typed grades nothing"
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(field(page)).not_to_be_focused()
    expect(field(page)).to_have_value("Is 3 g?")
    expect(page.get_by_role("button", name="Note for the lead annotator")).to_have_attribute("aria-pressed", "true")
    press(page, 3)
    expect(field(page)).to_be_hidden()
    press(page, 2)
    saved(page)
    assert [(event["pair"], event["grade"], event.get("note")) for event in desk.stored] == [
        ("p001", 3, "Is 3 g?"),
        ("p002", 2, None),
    ]


@pytest.mark.long
def test_escape_leaves_the_note_as_it_was(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    write(page, "not this")
    page.keyboard.press("Escape")
    expect(field(page)).to_be_hidden()
    write(page, "this")
    page.keyboard.press("Enter")
    write(page, " and more")
    page.keyboard.press("Escape")
    expect(field(page)).to_have_value("this")
    pair_on_show(page)
    button(page, 4).click()  # a click grades as well, with what is written
    expect(player(page)).to_have_attribute("data-pair", "p002")
    saved(page)
    assert desk.notes() == {"p001": "this"}


def test_a_click_on_a_grade_takes_along_what_is_being_written(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    page.get_by_role("button", name="Note for the lead annotator").click()
    page.keyboard.type(HOSTILE)
    pair_on_show(page)
    button(page, 1).click()
    expect(player(page)).to_have_attribute("data-pair", "p002")
    saved(page)
    assert desk.notes() == {"p001": HOSTILE}
    page.keyboard.press("u")
    expect(field(page)).to_have_value(HOSTILE)


@pytest.mark.long
def test_a_correction_shows_the_note_and_may_change_it(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    write(page, "first")
    page.keyboard.press("Enter")
    press(page, 3)
    saved(page)
    page.reload()
    expect(player(page)).to_have_attribute("data-pair", "p002")
    for digit, more, note in ((2, "", None), (1, " and second", "first and second")):
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        expect(field(page)).to_have_value("first")
        if more:
            write(page, more)
            page.keyboard.press("Enter")
        press(page, digit)
        saved(page)
        assert (desk.stored[-1]["grade"], desk.stored[-1].get("note")) == (digit, note)
    page.keyboard.press("u")
    expect(field(page)).to_have_value("first and second")
    pair_on_show(page)
    page.keyboard.press("n")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("Delete")
    page.keyboard.press("Enter")
    expect(field(page)).to_be_hidden()
    press(page, 0)
    saved(page)
    assert desk.notes() == {"p001": ""}, "taken back"


@pytest.mark.long
def test_a_note_survives_an_outage_and_a_reload_and_arrives_once(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    pair_on_show(page)
    desk.answer_with = 503
    write(page, "kept")
    page.keyboard.press("Enter")
    press(page, 4)
    page.reload()
    expect(player(page)).to_have_attribute("data-pair", "p002")
    page.keyboard.press("u")
    expect(field(page)).to_have_value("kept")
    page.keyboard.press("Escape")
    desk.lose_answers, desk.answer_with = 1, 200
    saved(page)
    assert [(event["pair"], event["note"]) for event in desk.stored] == [("p001", "kept")]
    assert len(set(desk.arrivals)) == 1 < len(desk.arrivals), "sent again, stored once"


@pytest.mark.long
def test_a_note_stays_with_its_clip(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    press(page, 3)
    write(page, "about the second")
    page.keyboard.press("Enter")
    page.keyboard.press("u")
    expect(player(page)).to_have_attribute("data-pair", "p001")
    expect(field(page)).to_be_hidden()
    page.keyboard.press("Escape")
    expect(player(page)).to_have_attribute("data-pair", "p002")
    expect(field(page)).to_have_value("about the second")
    press(page, 3)
    saved(page)
    assert desk.notes() == {"p002": "about the second"}


@pytest.mark.long
def test_a_note_has_an_end_and_is_whole_characters(desk: FakeDesk, open_page: Open) -> None:
    page = open_page()
    pair_on_show(page)
    page.keyboard.press("n")
    page.keyboard.insert_text("x" * 299)
    page.evaluate(  # half of a character, as cutting in the middle of a pair leaves it
        "() => { const input = document.querySelector('#host').shadowRoot.querySelector('form.note input');"
        " input.value += '\\ud83d'; input.dispatchEvent(new Event('input')); }"
    )
    page.keyboard.type("more than there is room for")
    page.keyboard.press("Enter")
    press(page, 3)
    saved(page)
    assert desk.notes() == {"p001": "x" * 299}


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_field_is_in_view_on_a_phone_too_and_axe_finds_nothing(desk: FakeDesk, open_page: Open, theme: str) -> None:
    desk.replies = 2
    page = open_page(f"?bare&theme={theme}", width=390, height=760)
    write(page, "Is this a cup?")
    for part in (field(page), button(page, 0), page.locator("video[data-active='true']")):
        expect(part).to_be_in_viewport(ratio=1)
    passes_axe(page)


@pytest.mark.long
def test_new_replies_are_told_beside_the_counts(desk: FakeDesk, open_page: Open) -> None:
    desk.replies = 1
    page = open_page()
    link = page.get_by_role("link", name="1 new reply to your notes, on the page My work")
    expect(link).to_have_attribute("href", "my-work")
    desk.replies = 0
    press(page, 3)
    saved(page)
    expect(link).to_have_count(0)
