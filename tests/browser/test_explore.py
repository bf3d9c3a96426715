"""A lead explores what the judged pairs show: parts, a bar, the pairs behind it, their query; also dark on a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app_server import AppServer
from axe import no_serious_finding
from backend.campaign.demo import demo_people
from backend.media.jobs import THUMBNAIL_WIDTH_PX

pytestmark = pytest.mark.browser
JUDGED = True
LEAD, _, PASSWORD = demo_people()
PARTS = ("Rank", "Similarity 1", "Coverage", "Durations", "Agreement", "Similarity")


def test_a_bar_leads_to_its_pairs_and_they_to_their_query(enter: Callable[..., Page], server: AppServer) -> None:
    page = enter(LEAD, url=f"{server.url}/explore", viewport={"width": 390, "height": 844}, color_scheme="dark")
    for part in PARTS:
        page.get_by_role("radio", name=part, exact=True).click()
        expect(page.get_by_role("radio", name=part, exact=True)).to_be_checked()
        expect(page.locator(".rr-list tbody tr").first).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth"), part
        if part == "Coverage":  # a frame of each video beside its name
            expect(page.locator(".rr-pictured img").first).to_have_js_property("naturalWidth", THUMBNAIL_WIDTH_PX)
    no_serious_finding(page)

    page.set_viewport_size({"width": 1280, "height": 900})
    chart = page.locator("[data-testid=stVegaLiteChart]").first
    chart.locator("[aria-roledescription=bar]").last.click()
    expect(page).to_have_url(re.compile(r"[?&]bin=\d+"))
    box = page.get_by_role("combobox", name="Which pairs")
    expect(box).to_have_value(re.compile("^Similarity "))
    chosen = box.input_value()
    first = page.locator(".rr-list tbody tr").first
    text = first.locator("a").inner_text()
    first.locator("td").last.click()
    expect(page).to_have_url(re.compile(r"/queries\?query=\d+"))
    expect(page.get_by_text(text).first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("combobox", name="Which pairs")).to_have_value(chosen)


@pytest.mark.long
def test_nothing_that_is_shown_depends_on_what_the_browser_still_has(
    enter: Callable[..., Page], server: AppServer
) -> None:
    """A message that stands for one sent earlier cannot be shown once the browser has dropped that one."""
    page = enter(LEAD, url=f"{server.url}/explore")
    sent: list[ForwardMsg] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: sent.append(ForwardMsg.FromString(frame)))

    page.on("websocket", listen)
    page.reload()
    for part in ("Durations", "Similarity", "Durations", "Similarity"):
        page.get_by_role("radio", name=part, exact=True).click()
        expect(page.get_by_role("radio", name=part, exact=True)).to_be_checked()
        expect(page.locator(".rr-list tbody tr").first).to_be_visible()
    assert max(message.ByteSize() for message in sent) > 10_000  # Streamlit's own limit
    assert not [message.ref_hash for message in sent if message.ref_hash]
