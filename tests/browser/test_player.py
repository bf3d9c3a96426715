"""The player in a real browser, against the fake desk of `player_harness`."""

import re
import statistics
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

    def test_an_annotator_reports_a_clip(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        page.get_by_role("button", name="Report this clip").click()
        page.get_by_role("button", name="No picture, or it stands still").click()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        grade(page, "1")
        all_saved(page)
        assert desk.grades() == {"p002": 1}
        assert desk.reports == [
            {"person": PERSON, "pair": "p001", "what": "reported by the annotator: no picture, or it stands still"}
        ]

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
        times = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
            # requestVideoFrameCallback tells the time of the frame that was painted, in seconds.
            time = page.evaluate_handle(
                """() => {
                    const root = document.getElementById("host").shadowRoot;
                    const video = root.querySelector("video[data-active='true']");
                    const frame = new Promise((seen) =>
                        video.requestVideoFrameCallback((_, {mediaTime}) => seen(mediaTime)));
                    return {frame};
                }"""
            )
            page.keyboard.press(key)
            times.append(time.evaluate("({frame}) => frame"))
        assert times[1] - times[0] == pytest.approx(0.04, abs=0.002)
        assert times[2] == pytest.approx(times[0], abs=0.002)
        page.keyboard.press("m")
        expect(video).to_have_js_property("muted", False)
        grade(page, "1")
        expect(page.locator("video[data-active='true']")).to_have_js_property("muted", False)
        page.reload()
        expect(page.get_by_role("button", name="Sound")).to_have_attribute("aria-pressed", "true")


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
    @pytest.mark.parametrize("panel", ["", "g"])
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


@pytest.mark.bench
def test_key_to_first_frame(clips: list[Path], context: BrowserContext, tmp_path: Path) -> None:
    """Time from a grade key to the first painted frame of the next clip, in ms (640x360, 25 frames a second)."""
    paths = [tmp_path / f"{seed}.mp4" for seed in range(6)]
    for seed, path in enumerate(paths):
        make_clip(path, seed, seconds=3.0)
    with serving(FakeDesk(paths, total=60)) as url:
        page = context.new_page()
        page.goto(url)
        page.evaluate(
            """() => {
                const root = document.getElementById("host").shadowRoot;
                window.took = [];
                document.addEventListener("keydown", (event) => {
                    const video = root.querySelector("video[data-active='true']");
                    video.requestVideoFrameCallback((now) => window.took.push(now - event.timeStamp));
                });
            }"""
        )
        for number in range(50):
            grade(page, str(number % 5))
            page.wait_for_function("(count) => window.took.length === count", arg=number + 1)
        took = sorted(page.evaluate("window.took"))
    print(f"\nkey to first frame over 50 clips: median {statistics.median(took):.0f} ms, p95 {took[47]:.0f} ms")
