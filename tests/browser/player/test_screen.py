"""The player's screen: what is in view, its panels, its colours."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from axe import passes_axe
from hands import button, pair_on_show, player
from player_harness import FakeDesk

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


class TestScreen:
    @pytest.mark.long
    @pytest.mark.parametrize(
        ("state", "waiting", "words"),
        [
            ("finished", 0, "You have graded everything there is for you."),
            ("waiting", 12, "Others have the last clips just now (12)."),
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
        expect(page.locator(".empty").get_by_text(words)).to_be_visible()

    @pytest.mark.long
    def test_an_empty_desk_tells_of_pairs_skipped(self, desk: FakeDesk, open_page: Open) -> None:
        desk.total, desk.when_done, desk.skipped = 0, "finished", 3
        page = open_page()
        expect(page.locator(".empty").get_by_text("3 pairs you skipped are left to others.")).to_be_visible()
        desk.skipped = 1
        page.reload()
        expect(page.locator(".empty").get_by_text("1 pair you skipped is left to others.")).to_be_visible()

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
        pair_on_show(page)
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

    @pytest.mark.long
    @pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 720)])
    def test_all_of_it_is_in_view(self, width: int, height: int, open_page: Open) -> None:
        page = open_page("?bare", width, height)
        pair_on_show(page)
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

    @pytest.mark.long
    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("panel", ["", "g", "s"])
    def test_colours_and_roles_pass_axe(self, theme: str, panel: str, open_page: Open) -> None:
        page = open_page(f"?bare&theme={theme}")
        pair_on_show(page)
        ink = page.get_by_test_id("query").evaluate("(query) => getComputedStyle(query).color")
        assert ink == ("rgb(236, 238, 244)" if theme == "dark" else "rgb(27, 29, 37)")
        if panel:
            page.keyboard.press(panel)
        passes_axe(page)
