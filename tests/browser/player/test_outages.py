"""Nothing is lost: the server away, the session ended, the page loaded anew, a second window."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from hands import network_is_back, pair_on_show, player, press, saved, time_passes
from player_harness import PERSON, FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


@pytest.mark.long
class TestNothingIsLost:
    def test_an_outage_keeps_grades_and_each_arrives_once(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        desk.answer_with = 503
        for key in "43":
            press(page, key)
        expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "2")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 2 grades kept")
        assert desk.stored == []
        desk.lose_answers = 1  # stored, but the receipts never arrive: the same keys come again
        desk.answer_with = 200
        saved(page)
        expect(page.get_by_test_id("saving")).to_have_text("saved")
        assert desk.grades() == {"p001": 4, "p002": 3}
        assert len(desk.stored_keys()) == 2
        assert len(desk.arrivals) > 2
        assert desk.reports == []  # nor was a clip blamed for the outage

    def test_the_outage_dialog_of_streamlit_does_not_stop_the_work(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        page.evaluate(
            """() => {
              const dialog = document.createElement("section");
              dialog.setAttribute("role", "dialog");
              dialog.innerHTML = "<button aria-label='Close'></button><h2>Connection error</h2>";
              dialog.firstChild.onclick = () => dialog.remove();
              document.body.append(dialog);
            }"""
        )
        expect(page.locator("[role=dialog]:not(dialog)")).to_have_count(0)
        press(page, "3")
        saved(page)
        assert desk.grades() == {"p001": 3}

    def test_what_the_server_says_about_its_trouble_is_shown_and_goes_away(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        page = open_page()
        pair_on_show(page)
        desk.answer_with, desk.says = 503, "The disk is full: make room."
        press(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("The disk is full: make room. What you gave is kept")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 1 grade kept")
        page.get_by_role("button", name="Dismiss").click()
        press(page, "1")
        expect(page.get_by_role("alert")).to_be_hidden()  # told once
        desk.says = "Another program has the database."
        network_is_back(page)
        expect(page.get_by_role("alert")).to_contain_text("Another program has the database.")
        desk.answer_with = 200
        network_is_back(page)
        saved(page)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert desk.grades() == {"p001": 3, "p002": 1}

    def test_grades_of_another_person_stay_where_they_are(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        theirs = f"reelrank.unsent.{PERSON}1.k"  # the name begins like ours
        page.evaluate("(name) => localStorage.setItem(name, JSON.stringify({pair: 'x', grade: 1, key: 'k'}))", theirs)
        page.reload()
        press(page, "2")
        saved(page)
        assert desk.grades() == {"p001": 2}
        assert page.evaluate("(name) => localStorage.getItem(name)", theirs) is not None

    def test_signed_out(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        desk.answer_with = 401
        press(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("You are signed out. Your grades are kept")
        expect(page.get_by_role("link", name="Sign in again")).to_have_attribute(
            "href", "/session/sign-in?other&next=%2F"
        )
        expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "1")
        desk.answer_with = 200  # signed in again in another window
        saved(page)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert desk.grades() == {"p001": 3}

    def test_a_refused_grade_says_why_and_leaves(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        desk.refused.add("p001")
        press(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("The seat went to somebody else.")
        saved(page)
        assert desk.stored == []
        expect(page.get_by_role("button", name="Undo: nothing to undo")).to_be_disabled()
        assert page.evaluate("Object.keys(localStorage).filter((name) => name.includes('unsent'))") == []


@pytest.mark.long
class TestTwoWindows:
    def test_the_older_one_stands_still_until_told_to_go_on(self, desk: FakeDesk, open_page: Open) -> None:
        first = open_page()
        press(first, "1")
        saved(first)
        second = open_page()
        expect(first.get_by_role("heading", name="You are also grading in another window")).to_be_visible()
        first.keyboard.press("4")
        first.keyboard.press("u")
        press(second, "2")
        saved(second)
        assert desk.grades() == {"p001": 1, "p002": 2}
        first.get_by_role("button", name="Go on here").click()
        expect(player(first)).to_have_attribute("data-pair", "p003")
        expect(second.get_by_role("heading", name="You are also grading in another window")).to_be_visible()
        expect(first.get_by_role("button", name="Go on here")).to_be_hidden()
        press(first, "3")
        saved(first)
        assert desk.grades() == {"p001": 1, "p002": 2, "p003": 3}
        assert len(desk.stored) == 3

    def test_what_the_older_one_has_not_sent_arrives(self, desk: FakeDesk, open_page: Open) -> None:
        first = open_page()
        pair_on_show(first)
        desk.answer_with = 503
        press(first, "4")
        desk.answer_with = 200  # the pages are made while the database answers again
        desk.lose_answers = 3
        second = open_page()
        expect(first.get_by_role("button", name="Go on here")).to_be_visible()
        press(second, "2")
        saved(first)
        saved(second)
        assert desk.grades() == {"p001": 4, "p002": 2}
        assert len(desk.stored) == 2

    def test_whoever_goes_on_in_another_browser_is_told_with_the_next_answer(
        self, desk: FakeDesk, open_page: Open, context: BrowserContext, browser: Browser, address: str
    ) -> None:
        first = open_page()
        pair_on_show(first)
        elsewhere = browser.new_context()  # no channel leads from one browser to another
        second = elsewhere.new_page()
        with second.expect_response("**/desk/exchange"):
            second.goto(address)
        press(second, "2")
        saved(second)
        expect(first.get_by_role("button", name="Go on here")).to_be_hidden()
        press(first, "4")  # what was given before anything could be told counts
        expect(first.get_by_role("heading", name="You are also grading in another window")).to_be_visible()
        first.keyboard.press("1")
        first.get_by_role("button", name="Go on here").click()
        expect(player(first)).to_have_attribute("data-pair", "p002")
        press(second, "3")
        expect(second.get_by_role("heading", name="You are also grading in another window")).to_be_visible()
        elsewhere.close()
        assert [(event["pair"], event["grade"]) for event in desk.stored] == [("p001", 2), ("p001", 4), ("p002", 3)]

    def test_going_on_without_a_server_never_repeats_what_the_other_one_keeps(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        first = open_page()
        second = open_page()
        pair_on_show(second)
        desk.answer_with = 503
        press(second, "0")
        first.get_by_role("button", name="Go on here").click()
        expect(first.locator(".empty").get_by_text("No connection")).to_be_visible()
        desk.answer_with = 200
        expect(player(first)).to_have_attribute("data-pair", "p002")
        saved(first)
        saved(second)
        assert [(event["pair"], event["grade"]) for event in desk.stored] == [("p001", 0)]


@pytest.mark.long
class TestBadDays:
    def test_five_minutes_without_a_server(self, desk: FakeDesk, context: BrowserContext, address: str) -> None:
        page = context.new_page()
        page.clock.install()
        page.goto(address)
        pair_on_show(page)
        context.set_offline(True)
        for key in "43":
            press(page, key)
        for _ in range(20):  # tries, which are 15 s apart at last
            page.clock.fast_forward(15_000)
        expect(page.get_by_test_id("saving")).to_have_text("offline: 2 grades kept")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        pair_on_show(page)  # the clips ahead are there already, and work goes on
        press(page, "2")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 3 grades kept")
        desk.lose_answers = 1
        context.set_offline(False)
        saving = page.get_by_test_id("saving")
        time_passes(
            page, 18, lambda: saving.get_attribute("data-unsaved") == "0"
        )  # the longest pause between two tries
        assert desk.grades() == {"p001": 4, "p002": 3, "p003": 2}
        assert len(desk.stored) == 3
        assert desk.reports == []

    def test_a_clock_set_back_does_not_turn_the_order_round(
        self, desk: FakeDesk, context: BrowserContext, open_page: Open
    ) -> None:
        context.add_init_script("""(() => {
            const now = Date.now;
            Date.now = () => now() - (localStorage.getItem("test.hour-back") ? 3_600_000 : 0);
        })()""")
        page = open_page()
        pair_on_show(page)
        desk.full_disk = True
        for key in "012":
            press(page, key)
        page.evaluate("localStorage.setItem('test.hour-back', '1')")
        page.reload()
        for key in "432":
            press(page, key)
        page.reload()  # what was only remembered in the page is gone: the order is the stored one
        expect(page.get_by_test_id("saving")).to_have_text("offline: 6 grades kept")
        desk.full_disk = False
        saved(page)
        assert [(kept["pair"], kept["grade"]) for kept in desk.stored] == list(
            zip(desk.pairs(), [0, 1, 2, 4, 3, 2], strict=False)
        )

    def test_a_clip_that_is_gone_is_reported_with_the_reason(self, desk: FakeDesk, open_page: Open) -> None:
        desk.missing.add("p001")
        page = open_page()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        press(page, "1")
        saved(page)
        assert [(report["pair"], report["what"]) for report in desk.reports] == [
            ("p001", "s01e02: no video file in videos")
        ]
