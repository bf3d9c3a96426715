"""The player as Streamlit mounts it, and the clocks it keeps."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from hands import pair_on_show, player, press, saved
from player_harness import FakeDesk

pytestmark = [pytest.mark.long, pytest.mark.browser]
Open = Callable[..., Page]


class TestMounting:
    def test_only_the_newest_clean_up_counts(self, desk: FakeDesk, open_page: Open) -> None:
        page = open_page()
        page.evaluate("() => { window.first = window.cleanUp; window.cleanUp = window.mount(); window.first(); }")
        press(page, "1")
        saved(page)
        page.evaluate("() => window.cleanUp()")
        page.keyboard.press("2")
        page.keyboard.press("g")
        expect(page.locator("dialog[open]")).to_have_count(0)
        assert desk.grades() == {"p001": 1}
        page.evaluate("() => { window.cleanUp = window.mount(); }")  # with the data of the first time
        expect(player(page)).to_have_attribute("data-pair", "p002")
        press(page, "3")
        saved(page)
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
        pair_on_show(page)
        page.evaluate("pass(60)")  # no input: 30 s of it count
        page.evaluate("hide(true); pass(60, 60); hide(false)")
        page.evaluate("pass(60, 60)")  # the pointer moves every second: all of it counts
        press(page, "3")
        saved(page)
        (stored,) = desk.stored
        # The test itself takes some real seconds at the clip, which count in both.
        real_ms = stored["elapsed_ms"] - 180_000
        assert 250 <= real_ms < 20_000
        assert 90_000 <= stored["active_ms"] < 90_000 + real_ms + 2_000
        pair_on_show(page)
        press(page, "1")
        saved(page)
        assert 250 <= desk.stored[1]["elapsed_ms"] < 20_000  # counted anew from the next clip's first frame

    def test_a_person_at_work_renews_their_seats_as_often_as_the_server_asks(
        self, desk: FakeDesk, context: BrowserContext, address: str
    ) -> None:
        """As when leases of three minutes lapsed under people at work: every player renewed after four minutes."""
        desk.renew_s = 40
        page = context.new_page()
        page.clock.install()
        page.goto(address)
        pair_on_show(page)
        with page.expect_request("**/desk/exchange", timeout=5000):
            for step in range(11):  # 55 s: any move after a minute would ask the server anyway
                page.mouse.move(5 + step, 5)
                page.clock.run_for(5_000)

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
