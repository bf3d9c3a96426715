"""Skipping a clip in the player, with a reason, and back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from hands import pair_on_show, player, press, saved, skip, skip_dialog
from player_harness import FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


class TestSkipping:
    @pytest.mark.parametrize(
        ("digit", "kind", "reason"),
        [
            ("1", "skip", "would rather not judge it"),
            ("2", "cannot_judge", "query or clip give no ground for a grade"),
            ("3", "broken_clip", "no picture, stands still, or damaged"),
        ],
    )
    def test_keys_skip(self, digit: str, kind: str, reason: str, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        assert skip(page, digit) == "p001"
        expect(page.get_by_text("Skipped.")).to_be_attached()  # in the live region
        saved(page)
        (stored,) = desk.skips
        assert {name: stored[name] for name in ("pair", "kind", "reason")} == {
            "pair": "p001",
            "kind": kind,
            "reason": reason,
        }
        assert (desk.stored, desk.reports) == ([], [])

    @pytest.mark.long
    def test_the_mouse_skips_with_a_reason(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        page.get_by_role("button", name="Skip this clip").click()
        dialog = skip_dialog(page)
        dialog.get_by_text("It cannot be judged").click()
        field = dialog.get_by_label("Reason")
        field.press_sequentially("12 s of 3 black frames?")
        expect(dialog).to_be_visible()
        expect(player(page)).to_have_attribute("data-pair", "p001")
        field.press("Enter")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        saved(page)
        assert [(event["kind"], event["reason"]) for event in desk.skips] == [
            ("cannot_judge", "12 s of 3 black frames?")
        ]
        assert desk.stored == []
        page.keyboard.press("s")  # the words of the last time are gone
        expect(field).to_have_value("")
        expect(dialog.get_by_role("radio", checked=True)).to_have_count(0)
        expect(dialog.get_by_role("button", name="Skip")).to_be_disabled()

    def test_what_is_typed_after_the_choice_is_the_reason(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        page.keyboard.press("s")
        expect(skip_dialog(page)).to_be_visible()
        page.keyboard.type("2 gus 31 ?")
        expect(skip_dialog(page).get_by_label("It cannot be judged")).to_be_checked()
        expect(skip_dialog(page).get_by_label("Reason")).to_have_value(" gus 31 ?")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        assert desk.arrivals == []
        page.keyboard.press("Enter")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        saved(page)
        assert [(event["kind"], event["reason"]) for event in desk.skips] == [("cannot_judge", "gus 31 ?")]

    @pytest.mark.long
    def test_keys_in_the_dialog_never_grade(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        page.keyboard.press("s")
        expect(skip_dialog(page)).to_be_visible()
        for key in ("0", "4", "u", "m", "s", "g", "l", "Enter"):
            page.keyboard.press(key)
        expect(skip_dialog(page)).to_be_visible()
        page.keyboard.press("ArrowDown")  # moves the choice, not the speed
        expect(skip_dialog(page).get_by_label("It cannot be judged")).to_be_checked()
        expect(page.locator("video[data-active='true']")).to_have_js_property("playbackRate", 1)
        page.keyboard.press("Escape")
        expect(skip_dialog(page)).to_be_hidden()
        expect(player(page)).to_have_attribute("data-pair", "p001")
        assert desk.arrivals == []
        press(page, "2")
        saved(page)
        assert (desk.grades(), desk.skips) == ({"p001": 2}, [])

    @pytest.mark.long
    def test_a_skip_made_offline_survives_a_reload_and_arrives_once(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        desk.answer_with = 503
        press(page, "4")
        assert skip(page, "2") == "p002"
        expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "2")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 1 grade and 1 skip kept")
        expect(page.locator(".counts")).to_have_text("1 graded today \u00b7 1,201 in all")  # a skip is no grade
        desk.lose_answers = 1  # stored, but the receipts never arrive: the same keys come again
        desk.answer_with = 200
        page.reload()
        expect(player(page)).to_have_attribute("data-pair", "p003")
        saved(page)
        assert desk.grades() == {"p001": 4}
        assert [event["pair"] for event in desk.skips] == ["p002"]
        assert len(desk.arrivals) > 2

    def test_undo_after_a_skip_goes_to_the_last_grade_and_never_back_to_the_skipped_pair(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        page = open_page()
        skip(page, "1")
        saved(page)
        expect(page.get_by_role("button", name="Undo: nothing to undo")).to_be_disabled()
        pair_on_show(page)
        press(page, "3")
        saved(page)
        assert skip(page, "2") == "p003"
        page.get_by_role("button", name="Undo the last grade, 3").click()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        pair_on_show(page)
        press(page, "1")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        saved(page)
        assert (desk.grades(), len(desk.skips)) == ({"p002": 1}, 2)

    @pytest.mark.long
    def test_a_skip_over_the_limit_says_so_and_the_pair_comes_back(self, desk: FakeDesk, open_page: Open) -> None:
        desk.skips_refused = "you have skipped 30 pairs within a minute: wait a minute, then skip this one"
        page = open_page()
        assert skip(page, "1") == "p001"
        expect(page.get_by_role("alert")).to_contain_text("was not taken. you have skipped 30 pairs within a minute")
        saved(page)
        assert (len(desk.arrivals), desk.skips) == (1, []), "asked once, and not again and again"
        press(page, "2")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        pair_on_show(page)
        press(page, "4")
        saved(page)
        assert desk.grades() == {"p002": 2, "p001": 4}

    @pytest.mark.long
    def test_a_graded_clip_cannot_be_skipped(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        press(page, "2")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        page.keyboard.press("s")
        expect(page.get_by_role("alert")).to_contain_text("A graded clip cannot be skipped.")
        expect(skip_dialog(page)).to_be_hidden()
        page.keyboard.press("Escape")  # on to the next clip: what was said of this one leaves with it
        expect(player(page)).to_have_attribute("data-pair", "p002")
        expect(page.get_by_role("alert")).to_be_hidden()
        saved(page)
        assert desk.skips == []

    @pytest.mark.long
    def test_a_refused_skip_says_why_and_the_grade_stays(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
        # Graded in another window meanwhile.
        desk.stored.append({"pair": "p001", "grade": 3, "key": "elsewhere"})
        skip(page, "1")
        expect(page.get_by_role("alert")).to_contain_text("was not taken. You have graded this pair already.")
        saved(page)
        assert (desk.skips, desk.grades()) == ([], {"p001": 3})
