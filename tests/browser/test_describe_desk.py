"""The desk of describing alone, against a fake server and a video whose frames show their numbers."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotate_app.screens import describe as component
from axe import passes_axe
from backend.media.cut import cut
from backend.media.frames import frame_times as told_times
from backend.media.probe import probe
from describe_harness import NUMBER_ON_SCREEN, FakeDescribing, describing_at, frame_times, numbered_video

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
FRAMES = 160
SENTENCE = "A man pours tea into a cup."
# Numbers read from the picture each time the browser has painted a frame.
WATCH = f"""() => {{
    const video = document.getElementById("host").shadowRoot.querySelector("video");
    const read = {NUMBER_ON_SCREEN};
    window.seen = [];
    const painted = () => {{ window.seen.push(read()); video.requestVideoFrameCallback(painted); }};
    video.requestVideoFrameCallback(painted);
}}"""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy that the cutter of clips makes of a video whose clock is not at 0 where it begins."""
    folder = tmp_path_factory.mktemp("describe")
    source, copy = folder / "numbered.mp4", folder / "copy.mp4"
    numbered_video(source, FRAMES)
    first, *_ = frame_times(FRAMES)
    assert told_times(source) == pytest.approx([time_s - first for time_s in frame_times(FRAMES)])
    assert cut(source, 0.0, probe(source).duration_s, copy).frames == FRAMES
    return copy


@pytest.fixture
def fake(video: Path) -> FakeDescribing:
    return FakeDescribing(video)


@pytest.fixture
def address(fake: FakeDescribing) -> Iterator[str]:
    with describing_at(fake) as url:
        yield url


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture
def open_page(context: BrowserContext, address: str) -> Iterator[Open]:
    """Opens the desk; any error that escapes in the page fails the test."""
    errors: list[str] = []

    def opened(query: str = "", *, state: str = "ready", size: tuple[int, int] = (1280, 800)) -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/{query}")
        expect(page.get_by_test_id("describe")).to_have_attribute("data-state", state)
        return page

    yield opened
    assert errors == []


def tells(page: Page, **values: Any) -> None:
    """The desk says so on its root."""
    for name, value in values.items():
        expect(page.get_by_test_id("describe")).to_have_attribute(f"data-{name}", str(value))


def stands_at(page: Page, frame: int) -> None:
    """This frame is on screen, by what the desk says and by the picture itself."""
    tells(page, frame=frame)
    page.wait_for_function(f"(frame) => ({NUMBER_ON_SCREEN})() === frame", arg=frame)


def mark(page: Page, start: int, end: int) -> None:
    """Mark `[start, end)` by keys, standing; the video stands where the moment begins afterwards."""
    page.keyboard.press("Escape")
    for frame, key in ((start, "i"), (end - 1, "o")):
        while (at := int(page.get_by_test_id("describe").get_attribute("data-frame") or 0)) != frame:
            far = abs(frame - at) >= 10
            page.keyboard.press(("Shift+" if far else "") + ("." if frame > at else ","))
        page.keyboard.press(key)
    page.keyboard.press(" ")
    page.keyboard.press("Shift+I")
    tells(page, start=start, end=end, playing="false", frame=start)


def describe(page: Page, start: int, end: int, sentence: str) -> None:
    """Mark and write by keys, and save."""
    mark(page, start, end)
    page.keyboard.press("Enter")
    page.keyboard.type(sentence)
    page.keyboard.press("Enter")
    tells(page, start="", end="")


def saved(page: Page) -> None:
    expect(page.get_by_test_id("saving")).to_have_text("saved")


class TestMarks:
    def test_they_are_the_frames_on_screen_and_play_in_a_loop(self, fake: FakeDescribing, open_page: Open) -> None:
        page = open_page()
        stands_at(page, 0)
        for key, frame in (
            (".", 1),
            ("Shift+.", 11),
            ("ArrowLeft", 10),
            ("]", 40),
            ("]", 100),
            ("[", 40),
            ("PageUp", 0),
        ):
            page.keyboard.press(key)
            stands_at(page, frame)
        for key in ("Shift+>", ".", "i"):  # ten frames by the sign that Shift gives the key
            page.keyboard.press(key)
        for key in ("Shift+.", ".", "o"):
            page.keyboard.press(key)
        tells(page, start=11, end=23, playing="true")
        page.evaluate(WATCH)
        page.wait_for_function("() => window.seen.length > 40")
        seen = page.evaluate("window.seen")
        assert sum(after < before for before, after in pairwise(seen)) >= 2  # it went back to the start
        assert min(seen) == 11
        assert max(seen) < 11 + 2 * 12  # where two cores are busy with other tests, a frame or some may slip through
        page.keyboard.press("Shift+O")
        stands_at(page, 22)
        page.keyboard.press("s")  # the shot on screen
        tells(page, start=0, end=40)
        page.keyboard.press("Shift+O")
        page.keyboard.press("]")
        page.keyboard.press("i")  # after the end: that mark is gone
        tells(page, start=40, end="")
        expect(page.get_by_test_id("span")).to_have_text(f"From {fake.times[40]:.2f} s; mark the end (O)")
        page.keyboard.press("]")
        page.keyboard.press("]")
        page.keyboard.press("o")
        tells(page, start=40, end=FRAMES)
        expect(page.get_by_test_id("span")).to_contain_text(f"{fake.times[40]:.2f}–{fake.ends_s:.2f} s")

    def test_a_frame_painted_before_a_jump_is_not_marked_after_it(self, context: BrowserContext, address: str) -> None:
        """A busy browser tells of a frame when the next one is on screen already."""
        page = context.new_page()
        page.add_init_script("""(() => {
            const request = HTMLVideoElement.prototype.requestVideoFrameCallback;
            window.told = 0;
            HTMLVideoElement.prototype.requestVideoFrameCallback = function (seen) {
                const later = (now, frame) => setTimeout(() => { seen(now, frame); window.told += 1; }, 250);
                return request.call(this, later);
            };
        })()""")
        page.goto(address)
        tells(page, state="ready")
        page.keyboard.press("Shift+.")
        page.wait_for_function(
            """() => !document.getElementById("host").shadowRoot.querySelector("video").seeking && window.told === 1"""
        )
        page.keyboard.press("i")
        tells(page, start=10)

    @pytest.mark.long
    def test_a_gap_in_a_damaged_video_is_stepped_over(self, fake: FakeDescribing, open_page: Open) -> None:
        lost = [fake.times[3] + 0.03, fake.times[3] + 0.06]  # announced, but not in the copy
        fake.times = sorted([*fake.times, *lost])
        page = open_page()
        for frame, number in ((1, 1), (2, 2), (3, 3)):
            page.keyboard.press(".")
            tells(page, frame=frame)
            page.wait_for_function(f"(number) => ({NUMBER_ON_SCREEN})() === number", arg=number)
        for _ in range(3):
            page.keyboard.press(".")
            page.wait_for_function("() => !document.getElementById('host').shadowRoot.querySelector('video').seeking")
        tells(page, frame=6)
        page.wait_for_function(f"() => ({NUMBER_ON_SCREEN})() === 4")

    def test_ends_are_moved_by_arrow_keys_and_dragged_onto_cuts(self, open_page: Open) -> None:
        page = open_page()
        mark(page, 20, 60)
        start, end = (page.get_by_role("slider", name=f"{name} of the moment") for name in ("Start", "End"))
        start.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        tells(page, start=31, end=60)
        stands_at(page, 31)
        box, strip = end.bounding_box(), page.get_by_role("group", name="Seconds around").bounding_box()
        assert box is not None
        assert strip is not None
        page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(strip["x"] + strip["width"] * 125 / 200 + 5, box["y"] + 20, steps=3)
        page.mouse.up()
        tells(page, start=31, end=100)
        stands_at(page, 99)


class TestDescriptions:
    def test_written_by_keys_alone_and_kept_through_an_outage(self, fake: FakeDescribing, open_page: Open) -> None:
        page = open_page()
        page.keyboard.press("Enter")
        page.keyboard.type("Too early")
        page.keyboard.press("Enter")
        expect(page.get_by_test_id("hint")).to_have_text("Mark the moment first: its start (I) and its end (O).")
        page.get_by_label("What happens in the moment").fill("")
        page.keyboard.press("Escape")
        describe(page, 11, 23, f"  {SENTENCE.replace(' ', '  ', 1)} ")
        saved(page)
        first = (fake.times[11], fake.times[23], SENTENCE)
        assert fake.standing == [first]
        [event] = fake.events
        assert (event["kind"], event["video"]) == ("describe", "v1")
        assert 0 < event["active_ms"] <= event["elapsed_ms"]

        fake.answer_with = 503
        describe(page, 40, 52, "A dog runs in.")
        expect(page.get_by_test_id("saving")).to_have_text("offline: 1 description kept")
        row = page.get_by_role("listitem").filter(has_text="A dog runs in.")
        expect(row).to_contain_text("on its way")
        mark(page, 60, 70)
        page.keyboard.press("Enter")
        page.keyboard.type("Half a sen")
        fake.answer_with = 200
        page.reload()
        saved(page)
        second = (fake.times[40], fake.times[52], "A dog runs in.")
        assert fake.standing == [first, second]
        assert len(fake.events) == 2
        tells(page, state="ready", start=60, end=70)  # what was begun is there as well
        expect(page.get_by_label("What happens in the moment")).to_have_value("Half a sen")

        row.get_by_role("button", name="Edit").click()
        tells(page, correcting="true", start=40, end=52)
        page.keyboard.type(" It barks.")
        page.keyboard.press("Enter")
        tells(page, correcting="false", start=60, end=70)
        saved(page)
        assert fake.standing[1] == (*second[:2], "A dog runs in. It barks.")
        page.keyboard.press("u")
        saved(page)
        assert fake.standing == [first, second]
        row.get_by_role("button", name="Withdraw").click()
        saved(page)
        assert fake.standing == [first]
        page.keyboard.press("u")
        saved(page)
        assert fake.standing == [first, second]
        assert [one["kind"] for one in fake.events[2:]] == ["redescribe", "redescribe", "withdraw", "redescribe"]

    @pytest.mark.long
    def test_what_others_did_what_came_back_and_what_was_refused(self, fake: FakeDescribing, open_page: Open) -> None:
        fake.taken = [[fake.times[20], fake.times[40]]]
        fake.seen = False
        page = open_page()
        guideline = page.get_by_role("dialog", name="How to describe")
        expect(guideline.get_by_role("listitem")).to_have_text(
            ["Mark one thing that happens.", "Write one sentence in the present tense.", "Use no names."]
        )
        page.keyboard.press("i")
        page.keyboard.press("Escape")
        expect(guideline).to_be_hidden()
        tells(page, start="")
        fake.notes = ['"Mona" may be a name.']
        mark(page, 24, 40)  # four of five parts are shared
        expect(page.get_by_test_id("hint")).to_have_text(
            "Somebody else described these seconds too. Both are kept; the lead chooses."
        )
        mark(page, 30, 40)
        expect(page.get_by_test_id("hint")).to_have_text("")
        page.keyboard.press("Enter")
        page.keyboard.type("Mona pours.")
        page.keyboard.press("Enter")
        saved(page)
        assert fake.read == [1]
        row = page.get_by_role("listitem").filter(has_text="Mona pours.")
        expect(row).to_contain_text('Look again: "Mona" may be a name.')
        [description] = fake.mine
        fake.give_back(description, "No names, please.")
        fake.refuse = "start or end is not a time of this video: mark both again"
        describe(page, 110, 120, SENTENCE)
        refused = page.get_by_role("listitem").filter(has_text=SENTENCE)
        expect(refused).to_contain_text(f"{fake.refuse}")
        expect(page.get_by_role("alert")).to_contain_text(f"“{SENTENCE}” was not taken: {fake.refuse}")
        expect(row).to_contain_text("Your lead: No names, please.")
        expect(page.get_by_role("combobox", name="Video")).to_contain_text(
            "kitchen_1.mp4 · 8 s · 2 of yours · 1 sent back"
        )
        saved(page)
        fake.refuse = ""
        page.reload()  # the refused words are still here
        tells(page, state="ready")
        refused.get_by_role("button", name="Take up again").click()
        expect(page.get_by_label("What happens in the moment")).to_have_value(SENTENCE)
        page.keyboard.press("Enter")
        expect(refused).not_to_contain_text("start or end is not a time")
        saved(page)
        assert fake.standing[1] == (fake.times[110], fake.times[120], SENTENCE)
        row.get_by_role("button", name="Edit").click()
        page.get_by_label("What happens in the moment").fill("A woman pours.")
        page.keyboard.press("Enter")
        saved(page)
        assert [sentence for _, _, sentence in fake.standing] == ["A woman pours.", SENTENCE]


@pytest.mark.long
class TestVideos:
    def test_one_that_is_not_ready_and_one_that_is_damaged(self, fake: FakeDescribing, open_page: Open) -> None:
        fake.not_ready = {"v2", "v3"}
        fake.damaged = {"v3"}
        page = open_page()
        mark(page, 3, 9)
        page.keyboard.press("n")
        tells(page, state="preparing", video="v2")
        expect(page.get_by_text("A video of 8 s usually takes 1 s to 4 s, once.")).to_be_visible()
        page.keyboard.press("i")
        fake.full_disk = "The disk is full: make room."
        expect(page.get_by_text(fake.full_disk)).to_be_visible()
        fake.full_disk = ""
        expect(page.get_by_text("A video of 8 s usually takes 1 s to 4 s, once.")).to_be_visible()
        fake.not_ready.clear()
        tells(page, state="ready", start="", end="")
        fake.not_ready = {"v3"}
        page.keyboard.press("n")
        tells(page, state="broken", video="v3")
        expect(page.get_by_text("kitchen.mp4 is not a video file. Go on with another one (N)")).to_be_visible()
        page.get_by_role("combobox", name="Video").select_option("v1")
        tells(page, state="ready", start=3, end=9)

    def test_a_picture_that_falls_away_comes_again_where_it_stood(self, fake: FakeDescribing, open_page: Open) -> None:
        page = open_page()
        page.keyboard.press("]")
        stands_at(page, 40)
        fake.full_disk = "The disk is full: make room."
        page.evaluate(
            """() => {
                const video = document.getElementById("host").shadowRoot.querySelector("video");
                video.src = "/describe/videos/none.mp4";
            }"""
        )
        page.wait_for_function("() => document.getElementById('host').shadowRoot.querySelector('video').error")
        page.keyboard.press("i")
        tells(page, state="ready", start=40)
        page.keyboard.press("Enter")
        page.keyboard.type("A man")
        fake.full_disk = ""
        page.wait_for_function("() => !document.getElementById('host').shadowRoot.querySelector('video').error")
        stands_at(page, 40)
        page.keyboard.type(" walks.")
        expect(page.get_by_label("What happens in the moment")).to_have_value("A man walks.")

    def test_closed(self, fake: FakeDescribing, open_page: Open) -> None:
        fake.closed = "Describing is not open to you."
        page = open_page(state="empty")
        expect(page.get_by_role("heading", name="Describing is closed")).to_be_visible()
        expect(page.get_by_text(fake.closed)).to_be_visible()


class TestScreen:
    @pytest.mark.long
    @pytest.mark.parametrize(("theme", "size"), [("light", (390, 844)), ("dark", (1280, 800))])
    def test_colours_and_roles_pass_axe(
        self, theme: str, size: tuple[int, int], fake: FakeDescribing, open_page: Open
    ) -> None:
        fake.taken = [[fake.times[60], fake.times[90]]]
        page = open_page(f"?theme={theme}", size=size)
        describe(page, 4, 12, SENTENCE)
        saved(page)
        fake.give_back(next(iter(fake.mine)), "Say who.")
        page.reload()
        expect(page.get_by_text("Say who.")).to_be_visible()
        tells(page, state="ready")
        mark(page, 70, 74)
        passes_axe(page)
        if size[0] < 400:
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_contain_text("the frame on screen is the first")
        passes_axe(page)


def test_frames_cuts_and_keys(context: BrowserContext, address: str) -> None:
    page = context.new_page()
    page.goto(f"{address}/describe/videos/v1.json")
    found = page.evaluate(
        """async () => {
            const {Frames, commandOf, sameSpan, clock} = await import("/component.js");
            const frames = new Frames([0.5, 0.54, 0.62, 1.0], 1.04, [[0.5, 0.6], [0.6, 1.04]]);
            return {
                cuts: frames.cuts,
                shot: frames.shotOf(1),
                at: [0, 3, 4].map((frame) => frames.at(frame)),
                spans: [frames.span(0.54, 1.0), frames.span(0.62, 1.04), frames.span(0.5, 0.5)],
                drawn: [frames.drawn(3, 0.03), frames.drawn(3, 0.05), frames.drawn(1, 0.3)],
                same: [sameSpan([0, 10], [0, 7]), sameSpan([0, 10], [0, 6.9]), sameSpan([0, 1], [2, 3])],
                clocks: [0, 9.999, 59.994, 59.996, 61.5, 3600].map((seconds) => clock(seconds)),
                keys: [
                    ["i", "KeyI"], ["I", "KeyI", true], [";", "Comma", true],
                    ["ш", "KeyI"], ["1", "Digit1"], ["?", "Slash", true],
                ].map(([key, code, shiftKey = false]) => commandOf({key, code, shiftKey})),
            };
        }"""
    )
    assert found == {
        "cuts": [0, 2, 4],
        "shot": {"start": 0, "end": 2},
        "at": [0.5, 1.0, 1.04],
        "spans": [{"start": 1, "end": 3}, {"start": 2, "end": 4}, {"start": 0, "end": 1}],
        "drawn": [3, 4, 0],
        "same": [True, False, False],
        "clocks": ["0.00", "10.00", "59.99", "1:00.00", "1:01.50", "60:00.00"],
        "keys": ["start", "go-start", "ten-back", "start", None, "keys"],
    }


def on_a_screen(browser: Browser, script: str, given: object) -> Any:
    """What a script finds that has a `screen` over a `video` which does what it is told, 100 frames of 1/25 s."""
    source = Path(component.__file__).with_name("screen.js").read_text()
    page = browser.new_page()
    found = page.evaluate(
        f"""async (given) => {{ {source}
          const video = {{
            seeking: false, paused: true, asked: [], buffered: {{ length: 1, start: () => 0, end: () => 4 }},
            addEventListener() {{}}, hasAttribute: () => false, pause() {{ this.paused = true; }},
            set currentTime(at) {{ this.asked.push(at); }},
          }};
          const screen = new Screen(video, {{ frame() {{}}, playing() {{}} }});
          screen.frames = {{ count: 100, played: (frame) => frame / 25, lasts: () => 1 / 25 }};
          {script}
        }}""",
        given,
    )
    page.close()
    return found


@pytest.mark.long
@pytest.mark.parametrize(("paused", "painted", "asked_for"), [(False, 13, 23), (True, 10, 21)])
def test_a_step_goes_on_from_what_is_on_screen_and_from_a_gap_only_where_the_video_stands(
    browser: Browser, paused: bool, painted: int, asked_for: int
) -> None:
    """A video that plays has moved on from the frame of a jump when it is first painted: that is no gap."""
    script = """
      video.paused = given.paused;
      screen.jump(11);
      screen.settled();
      screen.pause(); // perhaps before anything is painted
      screen.painted(given.painted, performance.now() + 1000);
      screen.step(10);
      return screen.aim;"""
    assert on_a_screen(browser, script, {"paused": paused, "painted": painted}) == asked_for


@pytest.mark.long
def test_a_jump_that_the_browser_lost_is_asked_for_again_until_it_arrives(browser: Browser) -> None:
    """As Chromium does with several jumps at once: it seeks for ever, though all of the video is there."""
    script = """
      video.seeking = true;
      screen.jump(11);
      while (video.asked.length < 2) await new Promise((done) => setTimeout(done, 20));
      video.seeking = false;
      screen.settled();
      const asked = [...video.asked];
      await new Promise((done) => setTimeout(done, 2.5 * LOST_MS));
      return [asked, video.asked.length];"""
    assert on_a_screen(browser, script, None) == [[0.46, 0.46], 2]
