"""Grading in the player: by key, button, number pad and finger."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from hands import button, pair_on_show, player, press, saved
from player_harness import FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


class TestGrading:
    def test_twenty_clips_without_a_mouse(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        expect(page.get_by_test_id("progress")).to_have_text("1 of 20")
        expect(page.get_by_test_id("query")).to_contain_text("A woman pours coffee")
        grades = [number % 5 for number in range(20)]
        for number in grades:
            expect(page.locator("video[data-active='true']")).to_have_count(1)
            press(page, str(number))
        expect(player(page)).to_have_attribute("data-state", "empty")
        expect(page.locator(".empty").get_by_text("You have graded everything there is for you.")).to_be_visible()
        saved(page)
        assert [event["pair"] for event in desk.stored] == desk.pairs()
        assert [event["grade"] for event in desk.stored] == grades
        assert len(set(desk.stored_keys())) == 20
        # Seen for at least 250 ms, and a test never looks at one clip for a minute.
        assert all(250 <= event["active_ms"] < 60_000 for event in desk.stored)

    def test_a_held_key_grades_once(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        page.keyboard.down("3")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        pair_on_show(page)
        for _ in range(5):
            page.keyboard.down("3")  # the operating system's repeats
        page.keyboard.up("3")
        press(page, "1")
        saved(page)
        assert desk.grades() == {"p001": 3, "p002": 1}

    def test_typing_and_shortcuts_of_others_do_not_grade(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        field = page.get_by_label("Elsewhere")
        field.press_sequentially("3 u g 0")
        expect(field).to_have_value("3 u g 0")
        field.blur()
        page.keyboard.press("Alt+3")
        page.keyboard.press("Control+Shift+2")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        expect(page.locator("dialog[open]")).to_have_count(0)
        press(page, "2")
        saved(page)
        assert desk.grades() == {"p001": 2}

    def test_buttons_grade_and_space_does_not_press_them_again(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        button(page, 4).click()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        pair_on_show(page)
        page.keyboard.press("Space")
        expect(player(page)).to_have_attribute("data-playing", "false")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        button(page, 1).focus()
        page.keyboard.press("Enter")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        saved(page)
        assert desk.grades() == {"p001": 4, "p002": 1}

    def test_undo_shows_the_grade_and_takes_a_new_one(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        for key in "014":
            press(page, key)
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        expect(button(page, 4)).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("u")  # goes no further back: the server shows the clip of the last grade alone
        expect(player(page)).to_have_attribute("data-pair", "p003")
        expect(page.get_by_test_id("progress")).to_have_text("3 of 20")
        press(page, "3")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        page.keyboard.press("Escape")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        saved(page)
        assert [(event["pair"], event["grade"]) for event in desk.stored] == [
            ("p001", 0),
            ("p002", 1),
            ("p003", 4),
            ("p003", 3),
        ]
        assert len(set(desk.stored_keys())) == 4

    def test_undo_after_a_reload(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        press(page, "2")
        saved(page)
        page.reload()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        expect(button(page, 2)).to_have_attribute("aria-pressed", "true")
        press(page, "0")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        saved(page)
        assert desk.grades() == {"p001": 0}


class TestHands:
    @pytest.mark.long
    @pytest.mark.parametrize("digit", [0, 3])
    def test_the_number_pad_grades(self, digit: int, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        page.keyboard.press(f"Numpad{digit}")  # as with Num Lock off: Insert, PageDown
        pair_on_show(page)
        expect(player(page)).to_have_attribute("data-pair", "p001")
        press = {"key": str(digit), "code": f"Numpad{digit}", "windowsVirtualKeyCode": 96 + digit, "isKeypad": True}
        session = page.context.new_cdp_session(page)
        session.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": str(digit), **press})
        session.send("Input.dispatchKeyEvent", {"type": "keyUp", **press})
        expect(player(page)).to_have_attribute("data-pair", "p002")
        saved(page)
        assert desk.grades() == {"p001": digit}

    def test_a_tap_grades(self, desk: FakeDesk, browser: Browser, address: str) -> None:
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        try:
            page = context.new_page()
            page.goto(address)
            pair_on_show(page)
            button(page, 3).tap()
            expect(player(page)).to_have_attribute("data-pair", "p002")
            page.get_by_role("button", name="Guideline").tap()
            expect(page.get_by_role("dialog", name="How to grade")).to_be_visible()
            saved(page)
        finally:
            context.close()
        assert desk.grades() == {"p001": 3}

    def test_reduced_motion_moves_nothing_but_the_clip(self, desk: FakeDesk, browser: Browser, address: str) -> None:
        context = browser.new_context(reduced_motion="reduce")
        try:
            page = context.new_page()
            page.goto(address)
            pair_on_show(page)
            page.evaluate(
                """() => {
                    window.animated = 0;
                    const animate = Element.prototype.animate;
                    Element.prototype.animate = function (...all) {
                        window.animated += 1;
                        return animate.apply(this, all);
                    };
                }"""
            )
            press(page, "2")
            expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
            assert page.evaluate("window.animated") == 0
            assert button(page, 0).evaluate("(tile) => getComputedStyle(tile).transitionDuration") == "0s"
            saved(page)
        finally:
            context.close()
        assert desk.grades() == {"p001": 2}

    @pytest.mark.long
    @pytest.mark.parametrize(("width", "height"), [(640, 360), (390, 844)])
    def test_no_control_covers_another_when_zoomed(self, width: int, height: int, open_page: Open) -> None:
        """1280 pixels at 200 % are 640 wide."""
        page = open_page("?bare", width, height)
        pair_on_show(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        controls = page.locator("button:visible").all()
        assert len(controls) == 11 + 5
        for control in controls:
            control.scroll_into_view_if_needed()
            # What lies at the middle of the control is the control.
            assert control.evaluate(
                """(control) => {
                    const box = control.getBoundingClientRect();
                    const found = control.getRootNode()
                        .elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                    return control.contains(found);
                }"""
            )
        boxes = [control.bounding_box() for control in controls]
        for index, one in enumerate(boxes):
            for other in boxes[:index]:
                assert one is not None
                assert other is not None
                apart = (
                    one["x"] >= other["x"] + other["width"]
                    or other["x"] >= one["x"] + one["width"]
                    or one["y"] >= other["y"] + other["height"]
                    or other["y"] >= one["y"] + one["height"]
                )
                assert apart
