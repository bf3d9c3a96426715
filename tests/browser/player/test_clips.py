"""The clips in the player: what plays, what cannot, and the seconds around the moment."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from axe import passes_axe
from backend.media.cut import cut
from backend.media.jobs import ClipForm, Profile
from hands import network_is_back, pair_on_show, player, press, saved, time_passes
from player_harness import FakeDesk, make_clip, serving
from support import free_port

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


class TestClips:
    def test_a_broken_clip_is_reported_and_passed_over(self, desk: FakeDesk, open_page: Open) -> None:
        desk.garbage |= {"p001", "p003"}
        page = open_page()
        expect(player(page)).to_have_attribute("data-pair", "p002")
        press(page, "1")
        expect(player(page)).to_have_attribute("data-pair", "p004")
        press(page, "2")
        saved(page)
        assert [report["pair"] for report in desk.reports] == ["p001", "p003"]
        assert desk.grades() == {"p002": 1, "p004": 2}

    @pytest.mark.long
    def test_clips_come_from_a_bucket_that_allows_no_other_origin(
        self, desk: FakeDesk, clips: list[Path], open_page: Open
    ) -> None:
        with serving(FakeDesk(clips)) as elsewhere:
            desk.bucket = f"{elsewhere}/clips"
            page = open_page()
            for key in "1234":
                pair_on_show(page)
                press(page, key)
            saved(page)
        assert (desk.reports, list(desk.grades().values())) == ([], [1, 2, 3, 4])

    @pytest.mark.long
    def test_a_bucket_that_this_browser_cannot_reach_breaks_no_clip(self, desk: FakeDesk, open_page: Open) -> None:
        desk.bucket = f"http://127.0.0.1:{free_port()}"  # nobody listens
        page = open_page()
        for key in "123":
            pair_on_show(page)
            press(page, key)
        saved(page)
        assert (desk.reports, list(desk.grades().values())) == ([], [1, 2, 3])

    @pytest.mark.long
    def test_an_outage_is_not_blamed_on_a_clip(self, desk: FakeDesk, open_page: Open) -> None:
        desk.answer_with = 503
        page = open_page()
        expect(page.get_by_test_id("saving")).to_have_text("offline")
        for _ in range(2):  # time enough for more than two retries of the clip
            with page.expect_request("**/desk/exchange"):
                pass
        desk.answer_with = 200
        network_is_back(page)
        pair_on_show(page)
        expect(player(page)).to_have_attribute("data-pair", "p001")
        assert desk.reports == []

    @pytest.mark.long
    def test_webm_clips_play_and_a_full_disk_is_waited_for(
        self, desk: FakeDesk, clips: list[Path], context: BrowserContext, open_page: Open, tmp_path: Path
    ) -> None:
        """Nothing is wrong with a clip that the disk has no room for: its pair stays, and is not reported."""
        desk.clips = [tmp_path / f"{path.stem}.webm" for path in clips]
        for source, path in zip(clips, desk.clips, strict=True):
            cut(source, 0.0, 1.0, path, Profile(ClipForm.WEBM))
        desk.no_room = {"p002"}
        page = open_page()
        video = page.locator("video[data-active='true']")
        pair_on_show(page)
        assert video.evaluate("video => fetch(video.src).then((answer) => answer.headers.get('content-type'))") == (
            "video/webm"
        )
        expect(video).to_have_js_property("duration", 1)
        press(page, "4")
        expect(player(page)).to_have_attribute("data-pair", "p002")
        expect(page.get_by_role("alert")).to_contain_text("The server's disk is full.")
        page.clock.install()
        for status in (507, 429):
            desk.not_now = status
            with page.expect_response(lambda answer: "p002" in answer.url and answer.status == desk.not_now):
                pass  # it asks again by itself
        desk.no_room = set()
        time_passes(page, 8, page.get_by_role("alert").is_hidden)
        pair_on_show(page)
        press(page, "3")
        saved(page)
        assert desk.grades() == {"p001": 4, "p002": 3}
        assert desk.reports == []

    def test_pause_frames_speed_and_sound(self, open_page: Open) -> None:
        page = open_page()
        pair_on_show(page)
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
        press(page, "1")
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


@pytest.mark.long
class TestContext:
    def test_it_plays_once_and_marks_what_is_not_the_moment(
        self, desk: FakeDesk, around: Path, open_page: Open
    ) -> None:
        desk.context_clip, desk.context_s = around, (0.8, 0.4)
        page = open_page()
        pair_on_show(page)
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
        press(page, "3")
        press(page, "1")
        saved(page)
        assert [(event["pair"], event["contexts"]) for event in desk.stored] == [("p001", 1), ("p002", 0)]
        assert desk.contexts_asked == ["p001"]

    def test_the_bar_shows_where_the_moment_lies(self, desk: FakeDesk, around: Path, open_page: Open) -> None:
        desk.context_clip, desk.context_s = around, (0.8, 0.4)
        page = open_page()
        pair_on_show(page)
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
        pair_on_show(page)
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
        pair_on_show(page)
        expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
        saved(page)
        assert [(event["grade"], event["contexts"]) for event in desk.stored] == [(2, 3)]

    @pytest.mark.long
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_its_colours_and_roles_pass_axe(self, theme: str, desk: FakeDesk, around: Path, open_page: Open) -> None:
        desk.context_clip, desk.context_s = around, (0.8, 0.4)
        page = open_page(f"?bare&theme={theme}")
        pair_on_show(page)
        page.keyboard.press("x")
        expect(player(page)).to_have_attribute("data-context", "before")
        page.keyboard.press("Space")
        passes_axe(page)
        expect(page.get_by_text("Before the moment: context, not part of the moment.")).to_be_attached()

    @pytest.mark.parametrize("damage", ["missing", "garbage"])
    def test_a_context_that_cannot_be_shown_leaves_the_moment(
        self, damage: str, desk: FakeDesk, tmp_path: Path, open_page: Open
    ) -> None:
        if damage == "garbage":
            desk.context_clip = tmp_path / "garbage.mp4"
            desk.context_clip.write_bytes(b"not a video")
        page = open_page()
        pair_on_show(page)
        page.keyboard.press("x")
        reason = "s01e02 is damaged near 3.4 s" if damage == "missing" else "the browser cannot play it"
        expect(page.get_by_role("alert")).to_contain_text(f"The context cannot be shown: {reason}. The moment goes on.")
        expect(player(page)).to_have_attribute("data-context", "off")
        expect(page.locator("video[data-active='true']")).to_have_js_property("paused", False)
        press(page, "4")
        saved(page)
        assert [(event["pair"], event["contexts"]) for event in desk.stored] == [("p001", 0)]
        assert desk.reports == []
