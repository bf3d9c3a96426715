"""The evaluation report in a real browser: opened as a file, sorted, followed, in the dark, on a phone."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from axe import no_serious_finding
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.leaderboard import report_frames
from backend.scoring.report.page import report_page
from backend.scoring.scored_files import file_inputs, score_files
from scored import video_project, write_files

pytestmark = [pytest.mark.long, pytest.mark.browser]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    truth, runs = write_files(folder)
    page = report_page(
        score_files(truth, runs),
        file_inputs(truth, runs),
        made=datetime(2026, 1, 2, tzinfo=UTC),
        film=report_frames(video_project(folder), OPERATOR),
    )
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder / "report.html"


NAMES = ("CONQUER_imprecise-caption_N1000_seed2018", "CroCs_BMRN_two-step_retrieval-of-massive-videos_final-checkpoint")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of nine runs, some of which have long names."""
    folder = tmp_path_factory.mktemp("many")
    truth, runs = write_files(folder)
    named = [folder / f"{name}.json" for name in (*NAMES, *(f"XML_top20_val_{number}" for number in range(7)))]
    for number, path in enumerate(named):
        path.write_bytes(runs[number % 3].read_bytes())
    page = report_page(score_files(truth, named), file_inputs(truth, named), made=datetime(2026, 1, 2, tzinfo=UTC))
    (folder / "report.html").write_text(page, encoding="utf-8")
    return folder / "report.html"


@pytest.mark.parametrize(("width", "media"), [(1280, "screen"), (720, "print")])
def test_nine_runs_have_room_on_a_screen_and_on_a_sheet_of_paper(
    browser: Browser, many: Path, width: int, media: str
) -> None:
    """A4 has 720 pixels between its margins. Tables of groups lay over one another there, and others were cut."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.emulate_media(media=media)
    page.goto(many.as_uri())
    if media == "screen":
        page.get_by_role("button", name="Open all").click()
    wide = "(all) => all.filter((one) => one.checkVisibility() && one.offsetWidth > one.parentElement.clientWidth)"
    tables = page.locator("#leaderboard table, #measures table, #groups table, #errors table, #queries table")
    assert tables.count() > 6
    assert tables.evaluate_all(f"{wide}.map((one) => one.caption.textContent)") == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # A name is broken between its parts: each of them stands on one line.
    lines = page.locator("#measures thead th:nth-child(n + 3)").evaluate_all(
        """(heads) => heads.flatMap((head) => {
          const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT), found = [];
          while (walker.nextNode()) {
            const range = document.createRange();
            range.selectNodeContents(walker.currentNode);
            found.push([walker.currentNode.data, range.getClientRects().length]);
          }
          return found;
        })"""
    )
    assert {text for text, _ in lines} >= {"CONQUER_", "seed2018", "massive-", "checkpoint"}
    assert [text for text, count in lines if count != 1] == []
    page.close()


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    """The report, which may neither complain nor ask for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
    page.on("request", lambda asked: said.append(asked.url) if not asked.url.endswith("report.html") else None)
    page.goto(report.as_uri())
    yield page
    context.close()
    assert said == []


def test_the_page_is_usable_by_everybody_in_the_light_in_the_dark_and_on_a_phone(page: Page) -> None:
    # Open two sections of each kind: axe takes long for each one, and the others have the same markup.
    page.locator("details").evaluate_all(
        """(all) => all.forEach((one) => {
          one.open = one.parentElement.querySelectorAll(":scope > details[open]").length < 2;
        })"""
    )
    no_serious_finding(page)
    page.emulate_media(color_scheme="dark")
    no_serious_finding(page)
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_page_is_sorted_searched_and_followed(page: Page) -> None:
    # A click or a key on a column sorts by it.
    board = page.locator("#leaderboard table")
    means = board.locator("tbody td:nth-child(3)")
    shown = [float(text) for text in means.all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    head = board.get_by_role("button", name="mean ndcg")
    head.focus()
    page.keyboard.press("Enter")
    expect(board.get_by_role("columnheader", name="mean ndcg")).to_have_attribute("aria-sort", "ascending")
    assert [float(text) for text in means.all_inner_texts()] == sorted(shown)
    board.get_by_role("button", name="run", exact=True).click()
    names = [text.split("\n")[0] for text in board.locator("tbody th").all_inner_texts()]
    assert names == sorted(names, key=str.lower)

    # Queries are found by typing. A link of the head unfolds its section.
    page.get_by_role("navigation").get_by_role("link", name="Every query").click()
    rows = page.locator("#each tbody tr:visible")
    assert rows.count() == 12
    page.get_by_label("Find a query").fill("QUERY 11")
    expect(rows).to_have_count(1)

    # A match leads to its moment and lights it up.
    page.get_by_role("navigation").get_by_role("link", name="Cases").click()
    case = page.locator("details.case").first
    link = case.locator(".v-match .verdict a").first
    group = link.locator("xpath=ancestor::li").get_attribute("data-g")
    link.focus()
    assert set(case.locator(".lit").evaluate_all("(all) => all.map((one) => one.dataset.g)")) == {group}
    assert case.locator(".lit").count() >= 2
    page.keyboard.press("Enter")
    expect(page.locator(":target .tag")).to_have_text(f"G{group}")

    # Frames of a match and its partner play when it is pointed at.
    match = case.locator(".filmed.v-match").first
    playing = "(all) => all.filter((one) => getComputedStyle(one).animationName !== 'none').length"
    films = case.locator(".film")
    page.mouse.move(0, 0)
    assert films.evaluate_all(playing) == 0
    # One of the six frames is to be seen, in its own shape.
    box = match.locator(".film").bounding_box()
    assert box
    assert box["width"] == pytest.approx(box["height"] * 16 / 9, abs=1)
    assert match.locator(".film").evaluate("(one) => getComputedStyle(one).backgroundImage").startswith('url("data:')
    match.hover()
    assert films.evaluate_all(playing) >= 2
    page.emulate_media(reduced_motion="reduce")
    assert films.evaluate_all(playing) == 0

    # The colours can be changed.
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(paper)
    page.locator("#theme").click()
    assert page.evaluate(paper) != before


def test_the_page_opens_with_one_table_and_unfolds_by_mouse_keyboard_link_and_for_print(page: Page) -> None:
    tables = page.locator("table").filter(visible=True)
    expect(tables).to_have_count(1)
    part = page.locator("details.part").filter(has=page.get_by_role("heading", name="All measures"))
    part.locator("> summary").focus()
    page.keyboard.press("Enter")
    expect(part).to_have_attribute("open", "")
    expect(part.get_by_role("table").first).to_be_visible()
    page.keyboard.press("Space")
    expect(tables).to_have_count(1)
    # A link to a card deep in a case unfolds all that holds it.
    page.evaluate("location.hash = '#c2g1'")
    expect(page.locator("#c2g1")).to_be_visible()
    page.get_by_role("button", name="Open all").click()
    assert page.locator("details.part:not([open])").count() == 0
    page.get_by_role("button", name="Close all").click()
    expect(tables).to_have_count(1)
    # Paper shows everything, and afterwards the page is as it was.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:is(.part, .case):not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(tables).to_have_count(1)
