"""How long somebody worked on a clip, as the player measures it."""

import pytest
from playwright.sync_api import BrowserContext, Route, expect

from hands import player, press, saved
from player_harness import FakeDesk

pytestmark = [pytest.mark.long, pytest.mark.browser]


def test_nobody_works_at_a_clip_that_is_still_on_its_way(desk: FakeDesk, address: str, context: BrowserContext) -> None:
    """As when a clip took two seconds to cut: the active time was longer than the clip had been on screen."""
    held: list[Route] = []
    page = context.new_page()
    page.route("**/clips/p001.mp4", lambda route: held.append(route))
    page.goto(address)
    expect(player(page)).to_have_attribute("data-loading", "true")
    page.wait_for_function("started => performance.now() > started + 1500", arg=page.evaluate("performance.now()"))
    page.mouse.move(200, 200)
    for route in held:
        route.continue_()
    page.unroute("**/clips/p001.mp4")
    press(page, 3)
    press(page, 2)
    saved(page)
    assert [event["pair"] for event in desk.stored] == ["p001", "p002"]
    assert all(250 <= event["active_ms"] <= event["elapsed_ms"] for event in desk.stored)


def test_a_clip_that_is_fetched_again_goes_on_counting(desk: FakeDesk, address: str, context: BrowserContext) -> None:
    page = context.new_page()
    page.goto(address)
    expect(player(page)).to_have_attribute("data-gradable", "true")
    page.wait_for_function("started => performance.now() > started + 1000", arg=page.evaluate("performance.now()"))
    page.locator("video[data-active='true']").evaluate(
        """async (video) => {
            const looksAgain = new Promise((told) => {
                const gate = new MutationObserver(() => video.src.startsWith("blob:") && told());
                gate.observe(video.closest(".player"), {attributeFilter: ["data-gradable"]});
            });
            video.dispatchEvent(new Event("error"));
            await looksAgain;  // its first frame is on screen, from which on the wait begins anew
        }"""
    )
    press(page, 3)
    saved(page)
    [event] = desk.stored
    assert 1000 <= event["active_ms"] <= event["elapsed_ms"]
