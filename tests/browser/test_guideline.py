"""The guideline's panel in a real browser: the project's own examples, their clips, and how a lead chooses them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

import player_harness
from app_server import AppServer, sign_in
from axe import passes_axe
from backend.campaign.demo import demo_people
from backend.campaign.qualification.guideline.rules import Example
from backend.core.ids import PairKey
from player_harness import FakeDesk, make_clip, serving

pytestmark = pytest.mark.browser
Open = Callable[..., Page]
Enter = Callable[[str], Page]
QUERY, NOTE = "A <b>woman</b> sits down.", "She sits, but half of it is hidden."
WORDED = {0: "A man parks a car.", 2: "into a white mug"}
IS_PLAYING = "(video) => !video.paused && video.currentTime > 0 && video.muted && video.loop"


@dataclass
class ShowingDesk(FakeDesk):
    """A desk whose project has examples for some grades; `asked` is what the browser wanted of them."""

    missing: set[int] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    async def example(self, request: Request) -> Response:
        self.asked.append(str(request.url).removeprefix(str(request.base_url)))
        if request.path_params["grade"] in self.missing:
            return JSONResponse({"message": "there is no such example"}, 404)
        return FileResponse(self.clips[0], media_type="video/mp4", headers={"Cache-Control": "private, no-cache"})

    def app(self) -> Starlette:
        app = super().app()
        app.router.routes.insert(0, Route("/examples/{grade:int}.mp4", self.example))
        return app


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    path = tmp_path_factory.mktemp("clips") / "clip.mp4"
    make_clip(path, 1, seconds=1.0, width=320, height=180)
    return [path]


@pytest.fixture
def desk(clips: list[Path]) -> ShowingDesk:
    return ShowingDesk(clips)


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says for which grades the project has examples."""
    original = player_harness.guideline

    def chosen(*grades: int) -> None:
        examples = [Example(grade + 10, grade, PairKey("p"), QUERY, NOTE, True) for grade in grades]
        monkeypatch.setattr(player_harness, "guideline", lambda campaign: original(campaign, examples))

    return chosen


@pytest.fixture
def open_page(browser: Browser, desk: ShowingDesk) -> Iterator[Open]:
    """Opens the player's page; an error that escapes in the page fails the test."""
    errors: list[str] = []
    contexts: list[BrowserContext] = []

    def open_it(query: str = "", **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}/{query}")
        expect(page.get_by_test_id("player")).to_have_attribute("data-gradable", "true")
        return page

    with serving(desk) as address:
        yield open_it
        for context in contexts:
            context.close()
    assert errors == []


def open_panel(page: Page) -> Locator:
    page.keyboard.press("g")
    panel = page.get_by_role("dialog", name="How to grade")
    expect(panel).to_be_visible()
    return panel


def row(page: Page, grade: int) -> Locator:
    return page.locator(f"dialog li[data-grade='{grade}']")


def clip_button(page: Page, does: str, grade: int) -> Locator:
    return page.get_by_role("button", name=f"{does} the example of grade {grade}")


def until(page: Page, grade: int, condition: str) -> None:
    page.wait_for_function(condition, arg=row(page, grade).locator("video").element_handle())


def test_without_examples_every_grade_has_one_in_words(desk: ShowingDesk, open_page: Open) -> None:
    page = open_page()
    panel = open_panel(page)
    expect(panel.locator("em")).to_have_count(5)
    expect(panel).to_contain_text("The examples are for the query “A woman pours coffee into a red cup.”")
    expect(panel.locator("video")).to_have_count(0)
    assert desk.asked == []


def test_examples_are_fetched_when_the_panel_opens_and_not_before(
    desk: ShowingDesk, open_page: Open, show: Callable[..., None]
) -> None:
    show(1, 3)
    page = open_page()
    page.keyboard.press("4")
    expect(page.get_by_test_id("player")).to_have_attribute("data-pair", "p002")
    expect(page.get_by_test_id("saving")).to_have_attribute("data-unsaved", "0")
    assert desk.asked == []
    panel = open_panel(page)
    for grade in (1, 3):
        expect(row(page, grade)).to_contain_text(f"“{QUERY}”{NOTE}")  # as text: no part of it became a tag
        until(page, grade, IS_PLAYING)
    assert {url for url in desk.asked} == {"examples/1.mp4?v=11", "examples/3.mp4?v=13"}
    for grade, words in WORDED.items():
        expect(row(page, grade).locator("em")).to_contain_text(words)
    expect(panel.locator("em")).to_have_count(3)
    expect(panel).to_contain_text("Clips are examples from this project, each with its query; those in words are for")


@pytest.mark.long
def test_clips_stand_still_while_the_panel_is_closed(open_page: Open, show: Callable[..., None]) -> None:
    show(0, 1, 2, 3, 4)
    page = open_page()
    panel = open_panel(page)
    expect(panel).to_contain_text("The clips are examples from this project, each with its query")
    until(page, 2, IS_PLAYING)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    until(page, 2, "(video) => video.paused")
    open_panel(page)
    until(page, 2, IS_PLAYING)


def test_a_clip_stops_at_a_key_press_and_stays_so(
    desk: ShowingDesk, open_page: Open, show: Callable[..., None]
) -> None:
    show(3, 4)
    page = open_page()
    open_panel(page)
    until(page, 4, IS_PLAYING)
    clip_button(page, "Pause", 4).focus()
    page.keyboard.press("Space")
    until(page, 4, "(video) => video.paused")
    page.keyboard.press("g")
    open_panel(page)
    until(page, 3, IS_PLAYING)
    expect(clip_button(page, "Play", 4)).to_be_visible()
    clip_button(page, "Play", 4).click()
    until(page, 4, IS_PLAYING)
    assert desk.stored == []


@pytest.mark.long
def test_who_asked_for_less_motion_sees_them_still_until_they_press(open_page: Open, show: Callable[..., None]) -> None:
    show(3)
    page = open_page(reduced_motion="reduce")
    open_panel(page)
    until(page, 3, "(video) => video.readyState >= 2")
    assert page.evaluate("(video) => video.paused", row(page, 3).locator("video").element_handle())
    clip_button(page, "Play", 3).click()
    until(page, 3, IS_PLAYING)


@pytest.mark.long
def test_a_clip_that_is_gone_leaves_the_example_in_words(
    desk: ShowingDesk, open_page: Open, show: Callable[..., None]
) -> None:
    show(0, 3)
    desk.missing = {0}
    page = open_page()
    panel = open_panel(page)
    expect(row(page, 0).locator("em")).to_have_text(WORDED[0])
    expect(row(page, 0)).not_to_contain_text(NOTE)
    expect(row(page, 0).get_by_role("button")).to_have_count(0)
    expect(panel).to_contain_text("those in words are for the query")
    until(page, 3, IS_PLAYING)


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_with_examples_passes_axe(theme: str, open_page: Open, show: Callable[..., None]) -> None:
    show(0, 2, 4)
    page = open_page(f"?bare&theme={theme}")
    open_panel(page)
    expect(clip_button(page, "Pause", 4)).to_be_visible()
    passes_axe(page)


@pytest.mark.long
@pytest.mark.parametrize("width", [320, 390, 640, 1280])
def test_nothing_of_it_is_wider_than_the_window(width: int, open_page: Open, show: Callable[..., None]) -> None:
    show(0, 1, 2, 3, 4)
    page = open_page("?bare", viewport={"width": width, "height": 844})
    panel = open_panel(page)
    expect(clip_button(page, "Pause", 4)).to_be_visible()
    assert panel.evaluate("(panel) => panel.scrollWidth <= panel.clientWidth")
    boxes = [part.bounding_box() for part in page.locator("dialog[open] li > *").all()]
    assert all(box and box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    buttons = [button.bounding_box() for button in panel.get_by_role("button").all()]
    assert len(buttons) == 6
    assert all(box and box["width"] >= 44 and box["height"] >= 44 for box in buttons)


# The whole way, on a real server


@pytest.fixture
def enter(
    open_page: Callable[..., Page], tmp_path: Path, demo: Callable[..., Path], serve: Callable[[Path], AppServer]
) -> Enter:
    """Signs somebody in at the demo with simulated judgements."""
    server = serve(demo(tmp_path / "project", judged=True))

    def entered(name: str) -> Page:
        page = open_page(viewport={"width": 1280, "height": 900})
        page.goto(server.url)
        sign_in(page, name, demo_people()[2])
        return page

    return entered


@pytest.mark.long
def test_what_a_lead_chooses_is_what_annotators_see(enter: Enter) -> None:
    lead, annotators, _ = demo_people()
    page = enter(lead)
    page.get_by_role("link", name="Disagreements").click()
    card = page.locator("[class*='st-key-card-']").first
    card.get_by_text("3 well").click()
    card.get_by_label("Reason").fill("Half of it is hidden.")
    card.get_by_role("button", name="Decide").click()
    page.get_by_text(re.compile(r"^Decided\s+1$")).click()
    page.get_by_role("button", name="Show as example of 3").click()
    expect(page.get_by_label("Why is this a 3?")).to_have_value("Half of it is hidden.")
    page.get_by_label("Why is this a 3?").fill("The dog is there, its bowl is not.")
    page.get_by_role("button", name="Show it").click()
    expect(page.get_by_text("The guideline shows this as the example of 3")).to_be_visible()
    query = page.locator("[class*='st-key-card-'] h4").first.inner_text().removesuffix("adjudicated").strip()
    video = page.get_by_text(re.compile("^.*, [0-9.]+ to [0-9.]+ s .* rank")).first.inner_text().split(",")[0]

    desk = enter(annotators[0])
    expect(desk.locator('[data-testid="player"][data-gradable="true"]')).to_be_visible()
    panel = open_panel(desk)
    expect(row(desk, 3)).to_contain_text(f"“{query}”The dog is there, its bowl is not.")
    until(desk, 3, IS_PLAYING)
    assert video not in panel.inner_html()

    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("button", name="Show as example of 3")).to_be_visible()
    desk.reload()
    expect(desk.locator('[data-testid="player"][data-gradable="true"]')).to_be_visible()
    open_panel(desk)
    expect(row(desk, 3).locator("em")).to_contain_text("then a long chat follows")
