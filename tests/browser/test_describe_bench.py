"""How long a mark takes at the desk of describing: `make bench` prints the table of docs/performance.md.

The desk as its page has it, on a real video that plays; never fails on a time.
"""

import statistics
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from backend.media.cut import cut
from backend.media.decode import FrameSpan, opened, picture_stream
from bench.tables import sized, table
from describe_harness import FakeDescribing, describing_at

pytestmark = [pytest.mark.bench, pytest.mark.browser]

MARKS = sized(30, 60)
VIDEO = Path(__file__).parents[2] / "assets" / "demo" / "cafe_meeting.mp4"
# From the key press to when the browser has painted the frame after it, with what that frame shows of the mark.
LISTEN = """() => {
    const root = document.getElementById("host").shadowRoot;
    const desk = root.querySelector("[data-testid='describe']");
    const chosen = root.querySelector("[data-strip='near'] .chosen");
    window.took = [];
    window.addEventListener("keydown", (event) => {
        requestAnimationFrame(() => {
            const painted = new MessageChannel();
            painted.port1.onmessage = () => {
                window.took.push([performance.now() - event.timeStamp, desk.dataset.start, chosen.style.left]);
            };
            painted.port2.postMessage(null);
        });
    }, {capture: true});
}"""


def test_key_to_the_mark_on_screen(browser: Browser, tmp_path: Path) -> None:
    clip = tmp_path / "clip.mp4"
    with opened(VIDEO) as container:
        times = [float(frame.time_s) for frame in FrameSpan(container, picture_stream(container, VIDEO), 0.0, 1e6)]
    cut(VIDEO, 0.0, times[-1] + 0.04, clip)
    fake = FakeDescribing(clip, times=times, shots=[[times[0], times[-1] + 0.04]])
    with describing_at(fake) as url:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        desk = page.get_by_test_id("describe")
        expect(desk).to_have_attribute("data-state", "ready")
        page.evaluate(LISTEN)
        page.keyboard.press(" ")
        page.wait_for_function("() => window.took.length === 1")
        for number in range(MARKS):
            before = desk.get_attribute("data-frame") or ""
            expect(desk).not_to_have_attribute("data-frame", before)  # it plays on
            page.keyboard.press("i")
            page.wait_for_function("(count) => window.took.length === count", arg=number + 2)
            if desk.get_attribute("data-playing") == "false":  # the video has come to its end
                page.keyboard.press("PageUp")
                page.keyboard.press(" ")
                page.wait_for_function("(count) => window.took.length === count", arg=number + 4)
                page.evaluate("(count) => window.took.splice(count)", number + 2)
        took = page.evaluate("window.took")[1:]
        page.close()
    assert all(start and left for _, start, left in took)
    ordered = sorted(at for at, _, _ in took)
    p95 = ordered[int(len(ordered) * 0.95)]
    table(
        f"Describing: from the key to the mark on screen, {VIDEO.name} playing",
        [[f"{len(ordered)}", *(f"{at:.0f} ms" for at in (statistics.median(ordered), p95, ordered[-1])), "50 ms"]],
        ("streamlit", "playwright"),
        "marks|median|95th percentile|longest|aim",
    )
