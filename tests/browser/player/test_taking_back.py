"""Taking back: what the player offers to undo, and what it tells the server so that others know what was seen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate_app.shared.player import markup, style
from hands import button, player, press, saved, skip
from player_harness import FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def shows(page: Page, pair: str) -> None:
    """This pair's clip was on screen long enough to be graded."""
    expect(player(page)).to_have_attribute("data-pair", pair)
    expect(player(page)).to_have_attribute("data-gradable", "true")


class TestWhatIsOnScreen:
    def test_is_told_of_each_clip_as_it_comes_and_never_of_those_ahead(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        shows(page, "p001")
        with page.expect_response("**/desk/shown"):
            press(page, "1")
        saved(page)
        page.keyboard.press("x")  # the context goes and comes, the clip is the same
        expect(page.get_by_text("The context cannot be shown")).to_be_visible()
        with page.expect_response("**/desk/shown"):
            press(page, "2")
        saved(page)
        with page.expect_response("**/desk/exchange"):
            page.evaluate("window.dispatchEvent(new Event('online'))")  # asks anew, as after a pause
        assert desk.shown == ["p001", "p002", "p003"]
        assert [body["shown"] for body in desk.exchanges if not body["takes"]] == [None, None, "p003"]

    @pytest.mark.long
    def test_is_told_again_after_an_outage_and_a_reload_but_holds_no_grade_up(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        page = open_page()
        shows(page, "p001")
        desk.answer_with = 503
        with page.expect_response("**/desk/shown"):
            press(page, "1")
        assert desk.shown == ["p001"]
        desk.answer_with = 200
        page.evaluate("window.dispatchEvent(new Event('online'))")
        saved(page)
        assert desk.exchanges[-1]["shown"] == "p002"
        assert desk.grades() == {"p001": 1}
        with page.expect_response("**/desk/shown"):
            page.reload()
        assert desk.shown == ["p001", "p002"]


class TestWhatIsOffered:
    @pytest.mark.long
    def test_a_grade_kept_while_signed_out_is_the_first_to_be_taken_back(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        press(page, "1")
        saved(page)
        desk.answer_with = 401
        press(page, "2")
        press(page, "3")
        expect(page.get_by_text("You are signed out.")).to_be_visible()
        # Signed in again: clips come, but the grades cannot be stored yet, not even while the page goes away.
        desk.answer_with, desk.full_disk = 200, True
        page.reload()
        shows(page, "p004")
        page.keyboard.press("u")
        shows(page, "p003")
        expect(button(page, 3)).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("button", name="Undo: nothing to undo")).to_be_disabled()
        page.keyboard.press("u")  # the server shows the clip of the last grade, and of none before
        shows(page, "p003")
        page.keyboard.press("4")
        desk.full_disk = False
        page.evaluate("window.dispatchEvent(new Event('online'))")
        saved(page)
        assert desk.grades() == {"p001": 1, "p002": 2, "p003": 4}

    @pytest.mark.long
    def test_a_skip_kept_while_signed_out_is_sent_and_not_offered(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        press(page, "1")
        saved(page)
        desk.answer_with = 401
        assert skip(page, "1") == "p002"
        expect(page.get_by_text("You are signed out.")).to_be_visible()
        desk.answer_with = 200
        page.reload()
        shows(page, "p003")
        saved(page)
        assert [event["pair"] for event in desk.skips] == ["p002"]
        page.keyboard.press("u")
        shows(page, "p001")

    @pytest.mark.long
    def test_no_button_stands_alone_before_the_desk_is_there(self, open_page: Open) -> None:
        page = open_page("?bare")
        page.locator("body").evaluate(
            "(body, html) => { body.innerHTML = html; }", f"<style>{style()}</style>{markup()}"
        )
        expect(page.locator(".empty")).to_be_visible()
        assert [button.inner_text() for button in page.get_by_role("button").all() if button.is_visible()] == []

    @pytest.mark.long
    def test_an_empty_desk_offers_undo_only_where_there_is_something(self, desk: FakeDesk, open_page: Open) -> None:
        desk.total = 1
        page = open_page()
        press(page, "2")
        expect(page.get_by_role("button", name="Undo the last grade, 2")).to_be_visible()
        saved(page)
        desk.stored.clear()
        desk.total = 0
        page.reload()
        expect(page.get_by_role("heading", name="You are finished")).to_be_visible()
        expect(page.get_by_role("button", name="Undo")).to_have_count(0)
