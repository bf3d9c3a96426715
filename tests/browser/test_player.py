"""The player in a real browser, against the fake desk of `player_harness`."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect

from player_harness import PERSON, FakeDesk, make_clip, serving

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    paths = [folder / f"{seed}.mp4" for seed in range(3)]
    for seed, path in enumerate(paths):
        make_clip(path, seed, seconds=1.0, width=320, height=180)
    return paths


@pytest.fixture
def desk(clips: list[Path]) -> FakeDesk:
    return FakeDesk(clips)


@pytest.fixture
def address(desk: FakeDesk) -> Iterator[str]:
    with serving(desk) as url:
        yield url


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(8000)
    yield context
    context.close()


@pytest.fixture
def open_page(context: BrowserContext, address: str) -> Iterator[Open]:
    """Opens the player's page; any error that escapes in the page fails the test."""
    errors: list[str] = []

    def open_it(query: str = "", width: int = 1280, height: int = 720) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/{query}")
        expect(player(page)).to_have_attribute("data-state", re.compile("ready|empty"))
        return page

    yield open_it
    assert errors == []


def player(page: Page):
    return page.get_by_test_id("player")


def seen(page: Page) -> None:
    """Until a grade counts: the clip's first frame was on screen long enough."""
    expect(player(page)).to_have_attribute("data-gradable", "true")


def grade(page: Page, key: str) -> None:
    """Press a grade key and see the next pair come up."""
    seen(page)
    pair = player(page).get_attribute("data-pair")
    page.keyboard.press(key)
    expect(player(page)).not_to_have_attribute("data-pair", pair or "")


def all_saved(page: Page) -> None:
    expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "0")


def button(page: Page, digit: int):
    return page.locator(f"button[aria-keyshortcuts='{digit}']")


def keys_stored(desk: FakeDesk) -> list[str]:
    return [event["key"] for event in desk.stored]


class TestGrading:
    def test_twenty_clips_without_a_mouse(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        expect(page.get_by_test_id("progress")).to_have_text("1 of 20")
        expect(page.get_by_test_id("query")).to_contain_text("A woman pours coffee")
        grades = [number % 5 for number in range(20)]
        for number in grades:
            expect(page.locator("video[data-active='true']")).to_have_count(1)
            grade(page, str(number))
        expect(player(page)).to_have_attribute("data-state", "empty")
        expect(page.get_by_text("You have graded everything there is for you.")).to_be_visible()
        all_saved(page)
        assert [event["pair"] for event in desk.stored] == desk.pairs()
        assert [event["grade"] for event in desk.stored] == grades
        assert len(set(keys_stored(desk))) == 20
        # Seen for at least 250 ms, and a test never looks at one clip for a minute.
        assert all(250 <= event["active_ms"] < 60_000 for event in desk.stored)

    def test_a_held_key_grades_once(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        page.keyboard.down("3")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        seen(page)
        for _ in range(5):
            page.keyboard.down("3")  # the operating system's repeats
        page.keyboard.up("3")
        grade(page, "1")
        all_saved(page)
        assert desk.grades() == {"p001": 3, "p002": 1}

    def test_a_triple_press_gives_one_grade(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        for _ in range(3):
            page.keyboard.press("3", delay=20)
        seen(page)
        expect(player(page)).to_have_attribute("data-pair", "p002")
        all_saved(page)
        assert desk.grades() == {"p001": 3}

    def test_typing_and_shortcuts_of_others_do_not_grade(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        field = page.get_by_label("Elsewhere")
        field.press_sequentially("3 u g 0")
        expect(field).to_have_value("3 u g 0")
        field.blur()
        page.keyboard.press("Alt+3")
        page.keyboard.press("Control+Shift+2")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        expect(page.locator("dialog[open]")).to_have_count(0)
        grade(page, "2")
        all_saved(page)
        assert desk.grades() == {"p001": 2}

    def test_digits_of_an_azerty_keyboard(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        press = """(init) => document.body.dispatchEvent(
            new KeyboardEvent("keydown", {bubbles: true, composed: true, ...init}))"""
        page.evaluate(press, {"key": "#", "code": "Digit3", "shiftKey": True})  # a QWERTY Shift+3 is no grade
        expect(player(page)).to_have_attribute("data-pair", "p001")
        page.evaluate(press, {"key": '"', "code": "Digit3"})
        expect(player(page)).to_have_attribute("data-pair", "p002")
        all_saved(page)
        assert desk.grades() == {"p001": 3}

    def test_buttons_grade_and_space_does_not_press_them_again(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        button(page, 4).click()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        seen(page)
        page.keyboard.press("Space")
        expect(player(page)).to_have_attribute("data-playing", "false")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        button(page, 1).focus()
        page.keyboard.press("Enter")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        all_saved(page)
        assert desk.grades() == {"p001": 4, "p002": 1}

    def test_undo_shows_the_grade_and_takes_a_new_one(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        for key in "014":
            grade(page, key)
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        expect(button(page, 4)).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        expect(button(page, 1)).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_test_id("progress")).to_have_text("2 of 20")
        grade(page, "3")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        page.keyboard.press("Escape")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        all_saved(page)
        assert [(event["pair"], event["grade"]) for event in desk.stored] == [
            ("p001", 0),
            ("p002", 1),
            ("p003", 4),
            ("p002", 3),
        ]
        assert len(set(keys_stored(desk))) == 4

    def test_undo_after_a_reload(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        grade(page, "2")
        all_saved(page)
        page.reload()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        expect(button(page, 2)).to_have_attribute("aria-pressed", "true")
        grade(page, "0")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        all_saved(page)
        assert desk.grades() == {"p001": 0}


def skip(page: Page, digit: str) -> str:
    """Skip the clip on show by two keys, and see the next pair come up; the pair skipped."""
    seen(page)
    pair = player(page).get_attribute("data-pair") or ""
    page.keyboard.press("s")
    expect(skip_dialog(page)).to_be_visible()
    page.keyboard.press(digit)
    expect(player(page)).not_to_have_attribute("data-pair", pair)
    return pair


def skip_dialog(page: Page):
    return page.get_by_role("dialog", name="Skip this clip")


class TestSkipping:
    @pytest.mark.parametrize(
        ("digit", "kind", "reason"),
        [
            ("1", "skip", "would rather not judge it"),
            ("2", "cannot_judge", "query or clip give no ground for a grade"),
            ("3", "broken_clip", "no picture, stands still, or damaged"),
        ],
    )
    def test_two_keys_skip(self, digit: str, kind: str, reason: str, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        assert skip(page, digit) == "p001"
        expect(page.get_by_text("Skipped.")).to_be_attached()  # in the live region
        all_saved(page)
        (stored,) = desk.skips
        assert {name: stored[name] for name in ("pair", "kind", "reason")} == {
            "pair": "p001",
            "kind": kind,
            "reason": reason,
        }
        assert (desk.stored, desk.reports) == ([], [])

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
        all_saved(page)
        assert [(event["kind"], event["reason"]) for event in desk.skips] == [
            ("cannot_judge", "12 s of 3 black frames?")
        ]
        assert desk.stored == []
        page.keyboard.press("s")  # the words of the last time are gone
        expect(field).to_have_value("")
        expect(dialog.get_by_label("Skip it")).to_be_checked()

    def test_keys_in_the_dialog_never_grade(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        page.keyboard.press("s")
        expect(skip_dialog(page)).to_be_visible()
        for key in ("0", "4", "u", "m"):
            page.keyboard.press(key)
        page.keyboard.press("ArrowDown")  # moves the choice, not the speed
        expect(skip_dialog(page).get_by_label("It cannot be judged")).to_be_checked()
        expect(page.locator("video[data-active='true']")).to_have_js_property("playbackRate", 1)
        page.keyboard.press("Escape")
        expect(skip_dialog(page)).to_be_hidden()
        expect(player(page)).to_have_attribute("data-pair", "p001")
        assert desk.arrivals == []
        grade(page, "2")
        all_saved(page)
        assert (desk.grades(), desk.skips) == ({"p001": 2}, [])

    def test_a_skip_made_offline_survives_a_reload_and_arrives_once(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        desk.answer_with = 503
        grade(page, "4")
        assert skip(page, "2") == "p002"
        expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "2")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 1 grade and 1 skip kept")
        expect(page.locator(".counts")).to_have_text("1 today \u00b7 1,201 in all")  # a skip is no grade
        desk.lose_answers = 1  # stored, but the receipts never arrive: the same keys come again
        desk.answer_with = 200
        page.reload()
        expect(player(page)).to_have_attribute("data-pair", "p003")
        all_saved(page)
        assert desk.grades() == {"p001": 4}
        assert [event["pair"] for event in desk.skips] == ["p002"]
        assert len(desk.arrivals) > 2

    def test_a_grade_after_undo_of_a_skip_counts(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        skip(page, "1")
        all_saved(page)
        page.get_by_role("button", name="Undo skip").click()
        expect(player(page)).to_have_attribute("data-pair", "p001")
        expect(page.get_by_text("You skipped this one. Press a grade, or")).to_be_visible()
        page.keyboard.press("s")
        expect(page.get_by_role("alert")).to_contain_text("This clip is skipped already.")
        seen(page)
        desk.answer_with = 503
        grade(page, "3")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        expect(page.locator(".counts")).to_have_text("1 today \u00b7 1,201 in all")
        desk.answer_with = 200
        all_saved(page)
        assert desk.grades() == {"p001": 3}
        expect(page.get_by_role("button", name="Undo the last grade, 3")).to_be_enabled()

    def test_a_skip_and_a_later_grade_of_its_pair_arrive_in_order(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        desk.answer_with = 503
        skip(page, "1")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        grade(page, "4")
        desk.answer_with = 200
        all_saved(page)
        # Had both come at once, the server would have taken the grade first and refused the skip.
        assert (len(desk.skips), desk.grades()) == (1, {"p001": 4})
        expect(page.get_by_role("alert")).to_be_hidden()

    def test_a_graded_clip_cannot_be_skipped(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        grade(page, "2")
        page.keyboard.press("u")
        expect(player(page)).to_have_attribute("data-pair", "p001")
        page.keyboard.press("s")
        expect(page.get_by_role("alert")).to_contain_text("A graded clip cannot be skipped.")
        expect(skip_dialog(page)).to_be_hidden()
        all_saved(page)
        assert desk.skips == []

    def test_a_refused_skip_says_why_and_the_grade_stays(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        # Graded in another window meanwhile.
        desk.stored.append({"pair": "p001", "grade": 3, "key": "elsewhere"})
        skip(page, "1")
        expect(page.get_by_role("alert")).to_contain_text("was not taken. You have graded this pair already.")
        all_saved(page)
        assert (desk.skips, desk.grades()) == ([], {"p001": 3})


class TestNothingIsLost:
    def test_an_outage_keeps_grades_and_each_arrives_once(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        desk.answer_with = 503
        for key in "43":
            grade(page, key)
        expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "2")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 2 grades kept")
        assert desk.stored == []
        desk.lose_answers = 1  # stored, but the receipts never arrive: the same keys come again
        desk.answer_with = 200
        all_saved(page)
        expect(page.get_by_test_id("saving")).to_have_text("saved")
        assert desk.grades() == {"p001": 4, "p002": 3}
        assert len(keys_stored(desk)) == 2
        assert len(desk.arrivals) > 2
        assert desk.reports == []  # nor was a clip blamed for the outage

    def test_the_outage_dialog_of_streamlit_does_not_stop_the_work(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
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
        grade(page, "3")
        all_saved(page)
        assert desk.grades() == {"p001": 3}

    def test_what_the_server_says_about_its_trouble_is_shown_and_goes_away(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        page = open_page()
        seen(page)
        desk.answer_with, desk.says = 503, "The disk is full: make room."
        grade(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("The disk is full: make room. What you gave is kept")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 1 grade kept")
        page.get_by_role("button", name="Dismiss").click()
        grade(page, "1")
        expect(page.get_by_role("alert")).to_be_hidden()  # told once
        desk.says = "Another program has the database."
        expect(page.get_by_role("alert")).to_contain_text("Another program has the database.")
        desk.answer_with = 200
        all_saved(page)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert desk.grades() == {"p001": 3, "p002": 1}

    def test_no_network(self, desk: FakeDesk, context: BrowserContext, open_page: Open) -> None:
        page = open_page()
        seen(page)
        context.set_offline(True)
        grade(page, "1")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 1 grade kept")
        context.set_offline(False)
        all_saved(page)
        assert desk.grades() == {"p001": 1}

    def test_a_reload_sends_what_was_not_sent(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        desk.answer_with = 503
        grade(page, "4")
        grade(page, "2")
        desk.lose_answers = 1
        desk.answer_with = 200
        page.reload()
        # The server still listed both pairs when the page was made; they do not come up again.
        expect(player(page)).to_have_attribute("data-pair", "p003")
        all_saved(page)
        assert desk.grades() == {"p001": 4, "p002": 2}
        assert len(keys_stored(desk)) == 2

    def test_grades_of_another_person_stay_where_they_are(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        theirs = f"reelrank.unsent.{PERSON}1.k"  # the name begins like ours
        page.evaluate("(name) => localStorage.setItem(name, JSON.stringify({pair: 'x', grade: 1, key: 'k'}))", theirs)
        page.reload()
        grade(page, "2")
        all_saved(page)
        assert desk.grades() == {"p001": 2}
        assert page.evaluate("(name) => localStorage.getItem(name)", theirs) is not None

    def test_signed_out(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        desk.answer_with = 401
        grade(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("You are signed out. Your grades are kept")
        expect(page.get_by_role("link", name="Sign in again")).to_have_attribute("href", "/session/sign-in?next=%2F")
        expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "1")
        desk.answer_with = 200  # signed in again in another window
        all_saved(page)
        expect(page.get_by_role("alert")).to_be_hidden()
        assert desk.grades() == {"p001": 3}

    def test_a_refused_grade_says_why_and_leaves(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        desk.refused.add("p001")
        grade(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("The seat went to somebody else.")
        all_saved(page)
        assert desk.stored == []
        expect(page.get_by_role("button", name="Undo: nothing to undo")).to_be_disabled()
        assert page.evaluate("Object.keys(localStorage).filter((name) => name.includes('unsent'))") == []


class TestClips:
    def test_a_broken_clip_is_reported_and_passed_over(self, desk: FakeDesk, open_page: Open) -> None:
        desk.garbage |= {"p001", "p003"}
        page = open_page()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        grade(page, "1")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        grade(page, "2")
        all_saved(page)
        assert [report["pair"] for report in desk.reports] == ["p001", "p003"]
        assert desk.grades() == {"p002": 1, "p004": 2}

    def test_an_outage_is_not_blamed_on_a_clip(self, desk: FakeDesk, open_page: Open) -> None:
        desk.answer_with = 503
        page = open_page()
        expect(page.get_by_test_id("saving")).to_have_text("offline")
        for _ in range(2):  # time enough for more than two retries of the clip
            with page.expect_request("**/desk/exchange"):
                pass
        desk.answer_with = 200
        seen(page)
        expect(player(page)).to_have_attribute("data-pair", "p001")
        assert desk.reports == []

    def test_pause_frames_speed_and_sound(self, open_page: Open) -> None:
        page = open_page()
        seen(page)
        video = page.locator("video[data-active='true']")
        expect(video).to_have_js_property("muted", True)
        page.keyboard.press("ArrowUp")
        expect(video).to_have_js_property("playbackRate", 2)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        expect(video).to_have_js_property("playbackRate", 0.5)
        page.keyboard.press("Space")
        expect(video).to_have_js_property("paused", True)
        # requestVideoFrameCallback tells the time of every frame that is painted, in seconds.
        page.evaluate(
            """() => {
                const root = document.getElementById("host").shadowRoot;
                window.video = root.querySelector("video[data-active='true']");
                const seen = (_, {mediaTime}) => {
                    window.painted = mediaTime;
                    window.video.requestVideoFrameCallback(seen);
                };
                window.video.requestVideoFrameCallback(seen);
            }"""
        )
        # A frame of 0.04 s is aimed at in its middle.
        arrived = """() => {
            const into = video.currentTime - window.painted;
            return !video.seeking && into > -0.001 && into < 0.035;
        }"""
        page.evaluate("() => { video.currentTime = 0.42; }")  # away from the ends: the clip loops
        page.wait_for_function(arrived)
        times = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            page.keyboard.press(key)
            # A frame from before the press may still be painted: wait for the one that was asked for.
            page.wait_for_function(arrived)
            times.append(page.evaluate("window.painted"))
        assert times[1] - times[0] == pytest.approx(0.04, abs=0.002)
        assert times[2] == pytest.approx(times[0], abs=0.002)
        page.keyboard.press("m")
        expect(video).to_have_js_property("muted", False)
        grade(page, "1")
        expect(page.locator("video[data-active='true']")).to_have_js_property("muted", False)
        page.reload()
        expect(page.get_by_role("button", name="Sound")).to_have_attribute("aria-pressed", "true")


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first clip's moment of 1 s, with 0.8 s before it and 0.4 s after it."""
    path = tmp_path_factory.mktemp("around") / "around.mp4"
    make_clip(path, 7, seconds=2.2, width=320, height=180)
    return path


# Notes every change of what the page calls the picture on show, with the time of the context's frame.
NOTE_PARTS = """() => {
    const root = document.getElementById("host").shadowRoot;
    const player = root.querySelector(".player"), video = root.querySelector("video.around");
    window.parts = [];
    window.painted = [];
    const mark = root.querySelector(".mark");
    new MutationObserver(() => window.parts.push(player.dataset.context))
        .observe(player, {attributes: true, attributeFilter: ["data-context"]});
    const seen = (_, {mediaTime}) => {
        requestAnimationFrame(() => {
            if (getComputedStyle(video).visibility === "hidden") return; // got ready, or left
            window.painted.push([mediaTime, player.dataset.context, mark.textContent]);
        });
        video.requestVideoFrameCallback(seen);
    };
    video.requestVideoFrameCallback(seen);
}"""


class TestContext:
    def test_it_plays_once_and_marks_what_is_not_the_moment(
        self, desk: FakeDesk, around: Path, open_page: Open
    ) -> None:
        desk.context_clip, desk.context_s = around, (0.8, 0.4)
        page = open_page()
        seen(page)
        assert desk.contexts_asked == []  # nothing is cut unless somebody asks
        page.evaluate(NOTE_PARTS)
        page.keyboard.press("x")
        page.wait_for_function("() => window.parts.at(-1) === 'off'")
        parts = page.evaluate("window.parts")
        assert list(dict.fromkeys(parts)) == ["asked", "before", "moment", "after", "off"]
        words = "context, not part of the moment"
        painted = page.evaluate("window.painted")
        assert {part for _, part, _ in painted} == {"before", "moment", "after"}
        for time, part, text in painted:
            # A frame is noted within a frame period of being painted, so the frames at the borders are left out.
            if time < 0.76:
                assert (part, text) == ("before", words)
            elif 0.84 < time < 1.76:
                assert (part, text) == ("moment", "the moment")
            elif 1.84 < time < 2.1:
                assert (part, text) == ("after", words)
        expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
        expect(page.get_by_text("The moment again.")).to_be_attached()
        grade(page, "3")
        grade(page, "1")
        all_saved(page)
        assert [(event["pair"], event["contexts"]) for event in desk.stored] == [("p001", 1), ("p002", 0)]
        assert desk.contexts_asked == ["p001"]

    def test_the_bar_shows_where_the_moment_lies(self, desk: FakeDesk, around: Path, open_page: Open) -> None:
        desk.context_clip, desk.context_s = around, (0.8, 0.4)
        page = open_page()
        seen(page)
        page.keyboard.press("x")
        expect(player(page)).to_have_attribute("data-context", re.compile("before|moment|after"))
        page.keyboard.press("Space")  # pauses the context
        expect(page.locator("video.around")).to_have_js_property("paused", True)
        expect(page.get_by_role("button", name="Context")).to_have_attribute("aria-pressed", "true")
        widths = page.locator(".time i").evaluate(
            """(bar) => ["::before", "::after"].map((side) =>
                parseFloat(getComputedStyle(bar, side).width) / bar.getBoundingClientRect().width)"""
        )
        assert widths == pytest.approx([0.8 / 2.2, 0.4 / 2.2], abs=0.01)

    def test_the_key_returns_at_once_and_each_look_counts(self, desk: FakeDesk, around: Path, open_page: Open) -> None:
        desk.context_clip = around
        page = open_page()
        seen(page)
        for leave in ("x", "Escape"):
            page.keyboard.press("x")
            expect(page.locator("video.around")).to_be_visible()
            page.keyboard.press("Space")
            page.keyboard.press(leave)
            expect(player(page)).to_have_attribute("data-context", "off")
            expect(page.locator("video.around")).to_be_hidden()
            expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
        page.get_by_role("button", name="Context").click()
        expect(page.locator("video.around")).to_be_visible()
        page.keyboard.press("2")  # while the context plays
        expect(player(page)).to_have_attribute("data-pair", "p002")
        expect(page.locator("video.around")).to_be_hidden()
        seen(page)
        expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
        all_saved(page)
        assert [(event["grade"], event["contexts"]) for event in desk.stored] == [(2, 3)]

    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_its_colours_and_roles_pass_axe(self, theme: str, desk: FakeDesk, around: Path, open_page: Open) -> None:
        desk.context_clip, desk.context_s = around, (0.8, 0.4)
        page = open_page(f"?bare&theme={theme}")
        seen(page)
        page.keyboard.press("x")
        expect(player(page)).to_have_attribute("data-context", "before")
        page.keyboard.press("Space")
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]})
        assert [violation["id"] for violation in found.response["violations"]] == []
        expect(page.get_by_text("Before the moment: context, not part of the moment.")).to_be_attached()

    @pytest.mark.parametrize("damage", ["missing", "garbage"])
    def test_a_context_that_cannot_be_shown_leaves_the_moment(
        self, damage: str, desk: FakeDesk, tmp_path: Path, open_page: Open
    ) -> None:
        if damage == "garbage":
            desk.context_clip = tmp_path / "garbage.mp4"
            desk.context_clip.write_bytes(b"not a video")
        page = open_page()
        seen(page)
        page.keyboard.press("x")
        reason = "s01e02 is damaged near 3.4 s" if damage == "missing" else "the browser cannot play it"
        expect(page.get_by_role("alert")).to_contain_text(f"The context cannot be shown: {reason}. The moment goes on.")
        expect(player(page)).to_have_attribute("data-context", "off")
        expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
        grade(page, "4")
        all_saved(page)
        assert [(event["pair"], event["contexts"]) for event in desk.stored] == [("p001", 0)]
        assert desk.reports == []


class TestTwoWindows:
    def test_the_older_one_stands_still_until_told_to_go_on(self, desk: FakeDesk, open_page: Open) -> None:
        first = open_page()
        grade(first, "1")
        all_saved(first)
        second = open_page()
        expect(first.get_by_role("heading", name="You are also grading in another window")).to_be_visible()
        first.keyboard.press("4")
        first.keyboard.press("u")
        grade(second, "2")
        all_saved(second)
        assert desk.grades() == {"p001": 1, "p002": 2}
        first.get_by_role("button", name="Go on here").click()
        expect(player(first)).to_have_attribute("data-pair", "p003")
        expect(second.get_by_role("heading", name="You are also grading in another window")).to_be_visible()
        expect(first.get_by_role("button", name="Go on here")).to_be_hidden()
        grade(first, "3")
        all_saved(first)
        assert desk.grades() == {"p001": 1, "p002": 2, "p003": 3}
        assert len(desk.stored) == 3

    def test_what_the_older_one_has_not_sent_arrives(self, desk: FakeDesk, open_page: Open) -> None:
        first = open_page()
        seen(first)
        desk.answer_with = 503
        grade(first, "4")
        desk.answer_with = 200  # the pages are made while the database answers again
        desk.lose_answers = 3
        second = open_page()
        expect(first.get_by_role("button", name="Go on here")).to_be_visible()
        grade(second, "2")
        all_saved(first)
        all_saved(second)
        assert desk.grades() == {"p001": 4, "p002": 2}
        assert len(desk.stored) == 2

    def test_going_on_without_a_server_never_repeats_what_the_other_one_keeps(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        first = open_page()
        second = open_page()
        seen(second)
        desk.answer_with = 503
        grade(second, "0")
        first.get_by_role("button", name="Go on here").click()
        expect(first.get_by_text("No connection")).to_be_visible()
        desk.answer_with = 200
        expect(player(first)).to_have_attribute("data-pair", "p002")
        all_saved(first)
        all_saved(second)
        assert [(event["pair"], event["grade"]) for event in desk.stored] == [("p001", 0)]


class TestBadDays:
    def test_five_minutes_without_a_server(self, desk: FakeDesk, context: BrowserContext, address: str) -> None:
        page = context.new_page()
        page.clock.install()
        page.goto(address)
        seen(page)
        context.set_offline(True)
        for key in "43":
            grade(page, key)
        page.clock.run_for(300_000)
        expect(page.get_by_test_id("saving")).to_have_text("offline: 2 grades kept")
        expect(player(page)).to_have_attribute("data-pair", "p003")
        seen(page)  # the clips ahead are there already, and work goes on
        grade(page, "2")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 3 grades kept")
        desk.lose_answers = 1
        context.set_offline(False)
        page.clock.run_for(16_000)  # the longest wait between two tries
        all_saved(page)
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
        seen(page)
        desk.full_disk = True
        for key in "012":
            grade(page, key)
        page.evaluate("localStorage.setItem('test.hour-back', '1')")
        page.reload()
        for key in "432":
            grade(page, key)
        page.reload()  # what was only remembered in the page is gone: the order is the stored one
        expect(page.get_by_test_id("saving")).to_have_text("offline: 6 grades kept")
        desk.full_disk = False
        all_saved(page)
        assert [(kept["pair"], kept["grade"]) for kept in desk.stored] == list(
            zip(desk.pairs(), [0, 1, 2, 4, 3, 2], strict=False)
        )

    def test_a_session_that_ends_in_mid_grade_keeps_the_grade_until_the_sign_in(
        self, desk: FakeDesk, open_page: Open
    ) -> None:
        page = open_page()
        grade(page, "2")
        all_saved(page)
        desk.answer_with = 401
        grade(page, "3")
        expect(page.get_by_role("alert")).to_contain_text("You are signed out. Your grades are kept")
        expect(page.get_by_test_id("saving")).to_have_text("signed out: 1 grade kept")
        address = page.url
        page.goto(f"{address}internals.js")  # away to the sign-in, which is another page of this server
        assert desk.grades() == {"p001": 2}
        desk.answer_with = 200
        page.goto(address)
        all_saved(page)
        expect(player(page)).to_have_attribute("data-pair", "p003")
        assert desk.grades() == {"p001": 2, "p002": 3}

    def test_a_clip_that_is_gone_is_reported_with_the_reason(self, desk: FakeDesk, open_page: Open) -> None:
        desk.missing.add("p001")
        page = open_page()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        grade(page, "1")
        all_saved(page)
        assert [(report["pair"], report["what"]) for report in desk.reports] == [
            ("p001", "s01e02: no video file in videos")
        ]


class TestHands:
    @pytest.mark.parametrize("digit", [0, 3])
    def test_the_number_pad_grades(self, digit: int, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        page.keyboard.press(f"Numpad{digit}")  # as with Num Lock off: Insert, PageDown
        seen(page)
        expect(player(page)).to_have_attribute("data-pair", "p001")
        press = {"key": str(digit), "code": f"Numpad{digit}", "windowsVirtualKeyCode": 96 + digit, "isKeypad": True}
        session = page.context.new_cdp_session(page)
        session.send("Input.dispatchKeyEvent", {"type": "keyDown", "text": str(digit), **press})
        session.send("Input.dispatchKeyEvent", {"type": "keyUp", **press})
        expect(player(page)).to_have_attribute("data-pair", "p002")
        all_saved(page)
        assert desk.grades() == {"p001": digit}

    def test_a_tap_grades(self, desk: FakeDesk, browser: Browser, address: str) -> None:
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        try:
            page = context.new_page()
            page.goto(address)
            seen(page)
            button(page, 3).tap()
            expect(player(page)).to_have_attribute("data-pair", "p002")
            page.get_by_role("button", name="Guideline").tap()
            expect(page.get_by_role("dialog", name="How to grade")).to_be_visible()
            all_saved(page)
        finally:
            context.close()
        assert desk.grades() == {"p001": 3}

    def test_reduced_motion_moves_nothing_but_the_clip(self, desk: FakeDesk, browser: Browser, address: str) -> None:
        context = browser.new_context(reduced_motion="reduce")
        try:
            page = context.new_page()
            page.goto(address)
            seen(page)
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
            grade(page, "2")
            expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
            assert page.evaluate("window.animated") == 0
            assert button(page, 0).evaluate("(tile) => getComputedStyle(tile).transitionDuration") == "0s"
            all_saved(page)
        finally:
            context.close()
        assert desk.grades() == {"p001": 2}

    @pytest.mark.parametrize(("width", "height"), [(640, 360), (390, 844)])
    def test_no_control_covers_another_when_zoomed(self, width: int, height: int, open_page: Open) -> None:
        """1280 pixels at 200 % are 640 wide."""
        page = open_page("?bare", width, height)
        seen(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        controls = page.locator("button:visible").all()
        assert len(controls) == 9 + 5
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


class TestScreen:
    @pytest.mark.parametrize(
        ("state", "waiting", "words"),
        [
            ("finished", 0, "You have graded everything there is for you."),
            ("waiting", 12, "All that is left is with other people just now (12)."),
            ("nothing", 0, "No batch is open yet."),
        ],
    )
    def test_an_empty_desk_says_why(
        self, state: str, waiting: int, words: str, desk: FakeDesk, open_page: Open
    ) -> None:
        desk.total, desk.when_done, desk.waiting = 0, state, waiting
        page = open_page()
        expect(player(page)).to_have_attribute("data-state", "empty")
        expect(player(page)).to_have_attribute("data-pair", "")
        expect(page.get_by_text(words)).to_be_visible()

    def test_an_empty_desk_tells_of_pairs_skipped(self, desk: FakeDesk, open_page: Open) -> None:
        desk.total, desk.when_done, desk.skipped = 0, "finished", 3
        page = open_page()
        expect(page.get_by_text("3 pairs you skipped are left to others.")).to_be_visible()
        desk.skipped = 1
        page.reload()
        expect(page.get_by_text("1 pair you skipped is left to others.")).to_be_visible()

    def test_a_waiting_desk_fills_by_itself(self, desk: FakeDesk, context: BrowserContext, address: str) -> None:
        desk.total, desk.when_done, desk.waiting = 0, "waiting", 3
        page = context.new_page()
        page.clock.install()
        page.goto(address)
        expect(player(page)).to_have_attribute("data-state", "empty")
        desk.total = 2
        page.clock.run_for(16_000)
        expect(player(page)).to_have_attribute("data-pair", "p001")

    def test_panels_open_with_a_key_and_stop_grading(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        seen(page)
        page.keyboard.press("g")
        guideline = page.get_by_role("dialog", name="How to grade")
        expect(guideline).to_be_visible()
        expect(guideline).to_contain_text("A person alone is like a stop word")
        page.keyboard.press("3")
        page.keyboard.press("?")
        expect(guideline).to_be_hidden()
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(player(page)).to_have_attribute("data-pair", "p001")
        assert desk.arrivals == []

    @pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720)])
    def test_all_of_it_is_in_view(self, width: int, height: int, open_page: Open) -> None:
        page = open_page("?bare", width, height)
        seen(page)
        expect(page.locator("button[data-grade]")).to_have_count(5)
        shown = [page.get_by_test_id("query"), page.locator("video[data-active='true']")]
        shown += [button(page, digit) for digit in range(5)]
        edges = []
        for element in shown:
            box = element.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["y"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height
            edges.append(box["x"])
        assert edges[2:] == sorted(edges[2:])
        boxes = [tool.bounding_box() for tool in page.locator("button:visible").all()]
        assert all(box and box["width"] >= 44 and box["height"] >= 44 for box in boxes)
        sizes = page.evaluate(
            """() => [...document.getElementById("host").shadowRoot.querySelectorAll(".player *")]
                .filter((element) => element.checkVisibility() && element.innerText)
                .map((element) => [parseFloat(getComputedStyle(element).fontSize), element.dataset.testid ?? ""])"""
        )
        largest = max(size for size, _ in sizes)
        assert [name for size, name in sizes if size == largest] == ["query"]

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("panel", ["", "g", "s"])
    def test_colours_and_roles_pass_axe(self, theme: str, panel: str, open_page: Open) -> None:
        page = open_page(f"?bare&theme={theme}")
        seen(page)
        ink = page.get_by_test_id("query").evaluate("(query) => getComputedStyle(query).color")
        assert ink == ("rgb(236, 238, 244)" if theme == "dark" else "rgb(27, 29, 37)")
        if panel:
            page.keyboard.press(panel)
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]})
        assert [violation["id"] for violation in found.response["violations"]] == []


class TestMounting:
    def test_only_the_newest_clean_up_counts(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        page.evaluate("() => { window.first = window.cleanUp; window.cleanUp = window.mount(); window.first(); }")
        grade(page, "1")
        all_saved(page)
        page.evaluate("() => window.cleanUp()")
        page.keyboard.press("2")
        page.keyboard.press("g")
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert desk.grades() == {"p001": 1}
        page.evaluate("() => { window.cleanUp = window.mount(); }")  # with the data of the first time
        expect(player(page)).to_have_attribute("data-pair", "p002")
        grade(page, "3")
        all_saved(page)
        assert desk.grades() == {"p001": 1, "p002": 3}

    def test_active_time_leaves_out_idle_and_hidden_time(self, open_page: Open) -> None:
        page = open_page()
        spent = page.evaluate(
            """async () => {
                const {ActiveTime} = await import("/internals.js");
                const time = new ActiveTime(1000, true);
                time.touch(5000, true);     // 4 s of work
                time.touch(105000, true);   // 100 s without input: 30 s count
                time.touch(106000, false);  // 1 s, then the tab is hidden
                time.touch(506000, true);
                return time.read(508000);   // 2 s
            }"""
        )
        assert spent == 4000 + 30000 + 1000 + 2000

    def test_a_grade_tells_active_and_elapsed_time(self, desk: FakeDesk, context: BrowserContext, address: str) -> None:
        """Three minutes pass at a clip: one idle, one in a hidden tab, one at work."""
        page = context.new_page()
        page.add_init_script("""(() => {
            const real = performance.now.bind(performance);
            let skew = 0;
            performance.now = () => real() + skew;
            // What the browser stamps itself (keys, frames) follows the same clock.
            const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp").get;
            Object.defineProperty(Event.prototype, "timeStamp", {get() { return stamp.call(this) + skew; }});
            const request = HTMLVideoElement.prototype.requestVideoFrameCallback;
            HTMLVideoElement.prototype.requestVideoFrameCallback = function (seen) {
                return request.call(this, (now, frame) => seen(now + skew, frame));
            };
            window.pass = (seconds, steps = 1) => {
                for (let step = 0; step < steps; step += 1) {
                    skew += seconds * 1000 / steps;
                    document.dispatchEvent(new Event("pointermove"));
                }
            };
            window.hide = (hidden) => {
                Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
                document.dispatchEvent(new Event("visibilitychange"));
            };
        })()""")
        page.goto(address)
        seen(page)
        page.evaluate("pass(60)")  # no input: 30 s of it count
        page.evaluate("hide(true); pass(60, 60); hide(false)")
        page.evaluate("pass(60, 60)")  # the pointer moves every second: all of it counts
        grade(page, "3")
        all_saved(page)
        (stored,) = desk.stored
        # The test itself takes some real seconds at the clip, which count in both.
        real_ms = stored["elapsed_ms"] - 180_000
        assert 250 <= real_ms < 20_000
        assert 90_000 <= stored["active_ms"] < 90_000 + real_ms + 2_000
        seen(page)
        grade(page, "1")
        all_saved(page)
        assert 250 <= desk.stored[1]["elapsed_ms"] < 20_000  # counted anew from the next clip's first frame

    def test_a_press_that_comes_too_early_prolongs_the_wait_a_little(self, open_page: Open) -> None:
        page = open_page()
        admitted = page.evaluate(
            """async () => {
                const {Gate} = await import("/internals.js");
                const presses = (...times) => {
                    const gate = new Gate();
                    gate.close();
                    gate.admits(0);
                    gate.firstFrame(40);
                    return times.map((time) => gate.admits(time));
                };
                return [presses(289), presses(291), presses(200, 400, 651), presses(200, 400, 600, 741)];
            }"""
        )
        assert admitted == [[False], [True], [False, False, True], [False, False, False, True]]
